import { byCases, type Duration, durationsOf, type Found, type Hit, isBlank, type KindRules, stated } from '../rule.ts';

const DEAL =
  '(?:agreement|contract|license|lease|sublease|engagement|employment|facility|commitment|services agreement)';
/** What else begins, lasts or ends: a notice, a cure, a payment, a renewal. */
const OTHER_BEFORE =
  /\b(?:notice|notify|prior written|cure|pay\w*|renew\w*|renewal|extend\w*|extension|additional|successive|survive\w*|transition|following (?:the )?(?:termination|expiration)|after (?:the )?(?:termination|expiration)|within|at least|less than|more than|terminat\w+ (?:\w+ ){0,6}upon)\b[^.;]{0,60}$/i;
const OTHER_AFTER =
  /^\W{0,3}(?:(?:prior|advance|written|calendar|transition|days'?)\W){0,3}(?:notice|of (?:the )?(?:notice|receipt)|prior to|before|transition|following (?:\w+ ){0,3}receipt)\b/i;
const ANNIVERSARY: readonly (readonly [RegExp, string])[] = [
  [/\bfirst (?:\(1st\) )?anniversary\b/i, '1'],
  [/\bsecond (?:\(2nd\) )?anniversary\b/i, '2'],
  [/\bthird (?:\(3rd\) )?anniversary\b/i, '3'],
  [/\bfourth (?:\(4th\) )?anniversary\b/i, '4'],
  [/\bfifth (?:\(5th\) )?anniversary\b/i, '5'],
  [/\bseventh (?:\(7th\) )?anniversary\b/i, '7'],
  [/\btenth (?:\(10th\) )?anniversary\b/i, '10'],
];

const isTerm = ({ before, after }: Duration): boolean => !OTHER_BEFORE.test(before) && !OTHER_AFTER.test(after);

/** "Until twelve months after a change of control" is no term of twelve months. */
function endsByEvent({ before, after }: Duration): boolean {
  return (
    /\buntil\b[^;]{0,40}$/i.test(before) &&
    /^\W{0,3}(?:after|following) (?!(?:the |its |such )?(?:\w+ )?(?:date|effective|commence\w*|signing|execution|closing|delivery|acceptance|start)\b)/i.test(
      after,
    )
  );
}

/** How long: a number, an anniversary, a date, or no end. */
function length({ plain, match }: Found) {
  const from = plain.slice(match.index);
  const duration = durationsOf(from).find((found) => isTerm(found) && found.unit !== 'business_days');
  if (duration !== undefined) return endsByEvent(duration) ? { basis: 'indefinite' as const } : stated(duration);
  const anniversary = ANNIVERSARY.find(([says]) => says.test(from));
  if (anniversary !== undefined && !/renew|extend/i.test(from.slice(0, 60)))
    return { value: anniversary[1], unit: 'years' as const, basis: 'stated' as const };
  if (/\bperpetual|\bin perpetuity\b/i.test(from)) return { basis: 'indefinite' as const };
  if (/\b(?:through|until|ending (?:on|at)?|expir\w+|terminat\w+|to)\b[^;]{0,60}\b(?:19|20)\d\d\b/i.test(from))
    return { basis: 'schedule' as const };
  if (isBlank(from.slice(0, 200))) return { basis: 'blank' as const };
  // A date that stands elsewhere is an end.
  if (
    /\buntil the (?:\w+ ){0,5}(?:date|day) (?:set forth|specified|stated|shown|given|indicated|named) (?:on|in|at)\b/i.test(
      from,
    )
  )
    return { basis: 'reference' as const };
  // "The term shall be extended for a year unless …" says what comes after the term.
  if (/^.{0,100}?\b(?:automatically|be|shall|will|may) (?:automatically )?(?:renew|extend)/i.test(from)) return null;
  if (
    /\buntil\b|\bunless\b|\bindefinite|\bthrough (?:the )?(?:\w+ )?(?:date|termination)|\bcontinue\b|\bso long as\b|\bas long as\b/i.test(
      from,
    )
  )
    return { basis: 'indefinite' as const };
  return null;
}

function numberOnly(read: Partial<Hit> | null): Partial<Hit> | null {
  return read?.basis === 'stated' ? read : null;
}

const en = byCases(
  [
    {
      says: new RegExp(
        String.raw`\b(?:initial |original |base |primary )?(?:term|period|duration) of (?:this |the |executive's |employee's |his |her )?(?:\w+ ){0,2}${DEAL}\b[^;]{0,80}?\b(?:shall|will|is|be|begins?|commences?|continues?|extends?|expires?|means|runs?)\b`,
        'i',
      ),
      not: /\b(?:during|throughout|expiration of|end of) the (?:initial )?term of\b(?![^;]{0,200}\bterm (?:shall|is|will))|\brenewal term\b|\bterm of (?:this )?(?:section|covenant)\b/i,
      score: 10,
      read: length,
    },
    {
      says: new RegExp(
        String.raw`\b(?:this|the|such) (?:\w+ ){0,2}${DEAL}\b(?:[^;]{0,80}?\b(?:granted|herein|hereof|hereunder)\b[^;]{0,20}?)?(?:, [^;]{0,160}?,)?[^;,]{0,50}?\b(?:remains?|continues?|be|is|have|has|commences?|begins?|becomes?|became)\b[^;]{0,80}?\b(?:in (?:full )?(?:force|effect)|(?:initial )?term|effective|commenc\w+|begin\w*|continu\w+)\b`,
        'i',
      ),
      not: /\bamend\w*|\bsurviv|\bmodif\w+|\bin full force and effect\b(?![^;]{0,40}\b(?:until|for))|\binvalid|\bunenforceab|\bthis section\b|\bupon (?:the )?(?:termination|expiration)\b|\bbenefits? under\b/i,
      score: 9,
      read: (found) =>
        /\b(?:until|for (?:a|an|the) (?:\w+ ){0,3}(?:term|period)|anniversary|expir\w+|through|for [\w-]+ (?:\(\w+\) )?(?:days|weeks|months|years)|thereafter|ending|perpetual|terminated)\b/i.test(
          found.plain.slice(found.match.index),
        )
          ? length(found)
          : null,
    },
    {
      says: new RegExp(
        String.raw`\bterm hereof (?:shall|will|is)\b|\b(?:this|the) (?:\w+ ){0,2}(?:${DEAL}|commitments?)\b[^;,]{0,30}\b(?:shall|will) (?:automatically )?(?:terminate|expire|end) on\b`,
        'i',
      ),
      score: 7,
      read: length,
    },
    {
      says: new RegExp(
        String.raw`\b(?:this|the) (?:\w+ ){0,2}${DEAL}\b[^;]{0,80}\b(?:runs?|lasts?) (?:for|until)\b`,
        'i',
      ),
      score: 8,
      read: length,
    },
    {
      // Under a heading that says "Term", a period needs no other word for it.
      says: /\bfor (?:a|an|the) (?:\w+ )?(?:period|term) of\b/i,
      score: 7,
      read: (found) =>
        /^[\W\d]*(?:initial )?(?:term|duration)(?: of (?:the |this )?(?:agreement|licen[sc]e|contract|lease))?\W*$/i.test(
          found.sentence.heading,
        )
          ? length(found)
          : null,
    },
    {
      // The defined word alone: "The Term is four (4) years."
      says: /\bthe (?:initial )?term (?:shall be|will be|is|lasts?|runs?)\b/i,
      not: /\b(?:during|of|in|end|throughout|this|use of|uses) the (?:initial )?term\b|\b(?:expired?|ended|over)\b/i,
      score: 6,
      read: (found) => (durationsOf(found.plain).some(isTerm) ? length(found) : null),
    },
    {
      says: /\bemployment\b[^;]{0,60}\b(?:shall be|is|will be) (?:strictly |on an )?["']?at[- ]will\b/i,
      score: 6,
      read: () => ({ basis: 'indefinite' }),
    },
    {
      says: /\b(?:for|have|with) (?:a|an|the) (?:initial |original |fixed )?(?:term|period|duration) (?:of|commencing|beginning|equal)\b/i,
      not: /\b(?:warrant|confidential|compet|sever|salary|notice|cure|restricted period|transition|409A|suspension|retir\w+|directly or indirectly|surviv\w+|renew(?:al|ed)|extension|payment|invoice|insurance|not (?:less|exceed)|after (?:the )?(?:termination|expiration)|following (?:the )?(?:termination|date)|disclos|solicit|interest|defect)/i,
      score: 6,
      read: (found) => (new RegExp(String.raw`\b${DEAL}\b|\bemploy`, 'i').test(found.plain) ? length(found) : null),
    },
    {
      says: /\b(?:initial term|employment term|employment period|term of employment|license term|"term"|"initial term")\b[^;]{0,120}?\b(?:shall|is|means|will|commenc\w+|begin\w*|for)\b/i,
      not: /\bduring (?:the|any|each|such)\b(?![^;]{0,200}\b(?:commenc|begin))|\brenewal term\b[^;]{0,40}\bshall\b|\banniversary of the termination\b/i,
      score: 8,
      // "After the Initial Term, this Agreement renews each year" says what follows it.
      read: (found) =>
        /\b(?:after|following|expiration of|end of) the (?:initial|employment|license) (?:term|period)\b/i.test(
          found.plain,
        )
          ? numberOnly(length(found))
          : length(found),
    },
    {
      says: /\b(?:employ(?:s|ed)?|engages?|retains?|hires?)\b[^;]{0,200}\bfor (?:a|an|the) (?:\w+ ){0,2}(?:term|period)\b/i,
      not: /\bnot\b[^;]{0,60}\bemploy|\bcompet|\bsolicit/i,
      score: 8,
      read: length,
    },
    {
      says: /\b(?:perpetual|in perpetuity)\b[^;]{0,200}\blicen[sc]e\b|\blicen[sc]e\b[^;]{0,120}\b(?:perpetual|in perpetuity)\b/i,
      // What is licensed for good in something delivered or given back is no term of the contract.
      not: /\bterminat|\b(?:deliverables?|work product|feedback|suggestions?|pre-?existing|background)\b/i,
      score: 4,
      read: () => ({ basis: 'indefinite' }),
    },
    {
      says: /\b(?:advances?|loans?|borrow\w*|line of credit|facility|commitments?)\b[^;]{0,160}\b(?:up to and including|until|through|terminates? on|expires? on|matures? on|ending on)\b[^;]{0,40}\b(?:19|20)\d\d\b/i,
      not: /\b(?:fiscal|quarter|interest (?:period|rate)|certif|financial statements?|default rate|prepay)/i,
      score: 4,
      read: () => ({ basis: 'schedule' }),
    },
    {
      says: /\b(?:termination|maturity|expiration|expiry) date"?\s?(?:means|shall mean|is|:|shall be)\b/i,
      score: 5,
      read: length,
    },
    {
      says: /\b(?:complet\w+|substantial completion|finish\w*)\b[^;]{0,120}\b(?:within|not later than|no later than|in)\b/i,
      not: /\b(?:payment|pay|invoice|warrant|cure|damages|notice(?! to proceed)|delay)/i,
      score: 3,
      read: (found) =>
        /\b(?:work|works|project|construction|contract)\b/i.test(found.plain)
          ? (durationsOf(found.plain.slice(found.match.index)).filter(isLength).map(stated)[0] ?? null)
          : null,
    },
  ],
  /\b(?:term|duration)\b/i,
);

function isLength({ before }: Duration): boolean {
  return /\b(?:within|in|than)\b[^.;]{0,20}$/i.test(before);
}

const OTHER_ZH =
  /(?:提前|通知|收到|保密|质保|保修|付款|支付|逾期|届满后|终止后|离职后|续签|顺延|延长|延续|续展|到期前|届满前|试用期)[^。;,]{0,16}$/;

function lengthZh({ plain, match }: Found) {
  const from = plain.slice(match.index);
  const duration = durationsOf(from, 40).find(
    ({ before, after, unit }) =>
      !OTHER_ZH.test(before) &&
      !/^(?:前|内|以内|之内)?[^。;,]{0,8}(?:通知|支付|付清)/.test(after) &&
      unit !== 'business_days',
  );
  if (duration !== undefined) return stated(duration);
  if (/无固定期限|长期有效|永久|不定期/.test(plain)) return { basis: 'indefinite' as const };
  if (/(?:至|到)[^。;]{0,6}\d{2,4}\s?年|(?:至|到)[〇零一二三四五六七八九十]{4}年/.test(from))
    return { basis: 'schedule' as const };
  if (isBlank(from.slice(0, 80))) return { basis: 'blank' as const };
  if (/(?:至|直至|到)[^。;]{0,40}(?:完毕|完成|止|终止|之日|为止)/.test(from)) return { basis: 'indefinite' as const };
  return null;
}

const zh = byCases(
  [
    {
      says: /(?:本)?(?:合同|协议|许可|租赁|服务|劳动合同|聘用|聘期|合作|承包|授权|委托|借款|授信|供货|使用|履行)(?:的)?(?:有效)?(?:期限|期间|期|年限)(?:自|从|为|是|:|共|为期|采用|约定|按|\d|[一二三四五六七八九十两]|_|至|\()/,
      not: /(?:期限|期)(?:届满|内|终止)[^。;]{0,20}(?:通知|续)(?![^。]{0,80}期限为)/,
      score: 9,
      read: lengthZh,
    },
    {
      says: /有效期(?:限)?(?:自|从|为|是|:|至|到|\d|[一二三四五六七八九十两]|_|共)/,
      not: /(?:报价|投标|保函|证书|资质|保密)[^。;,]{0,10}有效期/,
      score: 9,
      read: lengthZh,
    },
    {
      says: /本(?:合同|协议)自[^。;]{0,50}(?:起)?(?:生效|起)[^。;]{0,20}?(?:至|到|有效期|为期|期限|止)/,
      score: 8,
      read: lengthZh,
    },
    {
      says: /本(?:劳动)?合同为无固定期限/,
      score: 8,
      read: () => ({ basis: 'indefinite' }),
    },
    {
      says: /本(?:合同|协议)自[^。;]{0,40}日(?:起)?至[^。;]{0,40}日止/,
      score: 8,
      read: lengthZh,
    },
    {
      says: /(?:总)?工期(?:为|是|:|共|总日历天数|\d)|(?:合同)?工期总日历天数|工程[^。;]{0,12}(?:应|须)[^。;]{0,20}\d{1,4}\s?(?:天|日)内(?:完工|竣工|完成)/,
      not: /工期(?:延误|顺延)/,
      score: 5,
      read: lengthZh,
    },
  ],
  /期限|有效期/,
);

/** How long the contract lasts. */
export const term: KindRules = {
  kind: 'term',
  about:
    /\bcommenc|\bcontinues? (?:in|until)\b|\bruns?\b|\blasts?\b|\bduration\b|advances?\b|line of credit|expires?\b|terminate on|end on|at[- ]will|\bterm\b|\bperiod\b|in force|force and effect|in (?:full )?effect|effective|perpetual|perpetuity|(?:termination|maturity|expiration|expiry) date|complet|期限|有效期|生效|合同自|协议自|工期|聘期|年限|期间|期(?:为|自|:)/i,
  en,
  zh,
};
