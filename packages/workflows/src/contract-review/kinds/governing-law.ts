import { byCases, type Found, type KindRules } from '../rule.ts';

/** Words after a place name that don't belong to it. */
const PLACE_END =
  /(?:,|\(|\bwithout\b|\bexcluding\b|\bexclusive of\b|\bapplicable\b|\bas (?:such|applied|they|in)\b|\bexcept\b|\bwith(?:out)? (?:regard|reference|respect)\b|\bregardless\b|\bnotwithstanding\b|\birrespective\b|\bshall\b|\bwill\b|\bgovern\w*\b|\bin (?:all|which|effect)\b|\bto the\b|\bother than\b|\bthat\b|\bgiving\b|\bfor\b|\band (?:any|for|the parties|each|applicable|all|shall|is|not|without)\b|[.;]|$)/i;
const NO_PLACE = /^(?:descent|any|such|each|land|nature|which|its|that|his|their|general|applicable)\b/i;

/** "the State of New York" is New York. */
function toPlace(raw: string): string | null {
  const end = PLACE_END.exec(raw)?.index ?? raw.length;
  const place = raw
    .slice(0, end)
    .replace(/\b(?:the )?(?:internal |substantive |local )?(?:state|commonwealth|province) of\b/gi, '')
    .replace(/^\W*(?:the )?/i, '')
    .replace(/\s+/g, ' ')
    .trim();
  return !/^[A-Z]/.test(place) || place.length > 80 || NO_PLACE.test(place) ? null : place;
}

function named({ match, plain }: Found) {
  const place = toPlace(plain.slice(match.index + match[0].length, match.index + match[0].length + 160));
  return place === null ? null : { choice: place };
}

const FOREIGN = /\b(?:organi[sz]ed|incorporated|existing|formed|chartered)\b[^.;]{0,40}\bunder the laws?\b/i;

const en = byCases(
  [
    {
      says: /\blaws? of (?=(?:the )?[^,;]{1,60}? (?:(?:shall|will) (?:govern|control|apply)\b|(?:(?:exclusively|solely) )?(?:governs?|controls?|appl(?:y|ies)) (?:to )?(?:this|these|the|all)\b))/i,
      score: 11,
      read: named,
    },
    {
      says: /\bdeemed (?:to be )?(?:a |an )?(?:\w+ ){0,2}(?:contract|agreement|made)\b[^;]{0,40}\bunder the laws of\b|\b(?:governed|construed|interpreted|enforced|controlled|determined|subject)\b[^;]{0,120}?\b(?:by|under|with|to|in accordance|according|pursuant)\b[^;]{0,60}?\blaws?(?: \([^)]{0,100}\))?(?:,? (?:and|but not|excluding|without)[^;,]{0,60},?)? (?:of|in)\b(?! conflicts?)/i,
      score: 10,
      read: named,
    },
    {
      says: /\blaws? of\b(?=[^;]{1,100}\b(?:shall|will|are to|is to|must) (?:\w+ )?(?:govern|apply|control|be applicable|be applied))/i,
      score: 9,
      read: named,
    },
    {
      says: /(?:\b(?:governing|choice of|controlling) law\b[^;]{0,50}?|\bapplicable law\b ?)(?:\b(?:shall be|will be|is)\b|:)(?:[^;]{0,20}\blaws? of)?/i,
      not: /\bapplicable law\b[^;]{0,30}\b(?:is invalid|permit|require)/i,
      score: 7,
      read: named,
    },
    {
      says: /\b(?:governed|construed|interpreted|enforced|determined)\b[^;]{0,80}\b(?:by|under|in accordance with|according to|pursuant to) (?:the )?(?:internal |substantive )?((?:[A-Z][A-Za-z']+ ){1,3})(?:state |State )?[Ll]aws?\b/,
      score: 8,
      read: ({ match }) => ({
        choice: (match[1] ?? '').replace(/^(?:The|This|Such|Any|Applicable) /, '').trim() || null,
      }),
    },
    {
      // All in capitals, a name is told from the words around it only by standing right before "LAW".
      says: /\b(?:GOVERNED|CONSTRUED|INTERPRETED|ENFORCED)\b[^;]{0,80}\b(?:BY|UNDER|IN ACCORDANCE WITH|PURSUANT TO) (?:THE )?((?!(?:APPLICABLE|SUCH|ANY|LOCAL|FEDERAL|STATE)\b)(?:[A-Z']+ ){1,3})(?:STATE )?LAWS?\b/,
      score: 8,
      read: ({ match }) => ({ choice: match[1]?.trim() ?? null }),
    },
    {
      says: /\b(?:follow|apply|use)\b[^;]{0,60}?\b((?:[A-Z][A-Za-z]+ ){1,3})(?:state |substantive )?law\b[^;]{0,60}\b(?:substan|award|merits|dispute)/,
      score: 4,
      read: ({ match }) => ({ choice: match[1]?.trim() ?? null }),
    },
  ],
  /\b(?:governing|applicable|choice of|controlling) law\b/i,
);

const ZH_KNOWN =
  /中华人民共和国|中国(?:大陆|香港|澳门)?|香港(?:特别行政区)?|澳门(?:特别行政区)?|台湾地区|英格兰(?:和威尔士)?|新加坡|美国[\u4e00-\u9fff]{2,4}州/;
const ZH_OTHER = /(?:适用|依照|依据|按照|根据|受|依|由)([\u4e00-\u9fff]{2,6}?(?:国|州|省|特别行政区))/;

function namedZh({ plain, match }: Found) {
  const from = plain.slice(match.index);
  const place = ZH_KNOWN.exec(from)?.[0] ?? ZH_OTHER.exec(from)?.[1];
  // "按照国家法律法规及公司规章制度执行" chooses no law.
  if (place === undefined && /规章|制度/.test(plain)) return null;
  return { choice: place ?? null, ...(place === undefined ? { score: 3 } : {}) };
}

const zh = byCases(
  [
    { says: /准据法/, score: 9, read: namedZh },
    {
      says: /(?:受|适用|依据|依照|根据|按照|遵循|依)(?:[^。;]{0,24}?)(?:法律(?!责任|顾问|服务|文书|效力|程序)|法)(?:法规)?[^。;]{0,16}?(?:管辖|调整|约束|解释|执行|的?保护|处理)/,
      // What protects a work governs no contract.
      not: /(?:订立|签订|签署|达成|制定)(?:本|如下|以下)|不受[^。;]{0,20}法律|(?:知识产权|著作权|版权|专利|商标)(?:法律|法)[^。;]{0,20}保护/,
      score: 9,
      read: namedZh,
    },
    {
      says: /(?:适用|受)[^。;]{0,6}?(?:中华人民共和国|中国|香港|澳门|[\u4e00-\u9fff]{2,6}(?:国|州|特别行政区)|英格兰|新加坡)[^。;]{0,16}?(?:法律|法)/,
      not: /(?:根据|依据|依照)[^。]{0,60}(?:订立|签订|达成)本|(?:知识产权|著作权|版权|专利|商标)(?:法律|法)[^。;]{0,20}保护/,
      score: 10,
      read: namedZh,
    },
  ],
  /法律适用|适用法律/,
);

/** Which law governs the contract; `choice` names it. */
export const governingLaw: KindRules = { kind: 'governing_law', about: /\blaws?\b|法/i, en: guarded(en), zh };

function guarded(rule: KindRules['en']): KindRules['en'] {
  // "a corporation organized under the laws of Delaware" chooses no law, unless the sentence also does.
  return (sentence, next) =>
    FOREIGN.test(sentence.plain) && !/\bgoverned\b|\bconstrued\b/i.test(sentence.plain) ? null : rule(sentence, next);
}
