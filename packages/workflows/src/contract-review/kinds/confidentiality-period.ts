import { byCases, type Duration, durationsOf, type Found, type KindRules, stated } from '../rule.ts';
import type { Sentence } from '../sentence.ts';

const SECRET =
  /\bconfidential(?:ity|ly)?\b|\bproprietary\b|\b(?:non-?public|business|technical|customer) information\b|\btrade secrets?\b|\bsecre(?:t|cy)\b|\bnon-?disclosure\b|\bin (?:strict(?:est)? )?confidence\b/i;
const PERIOD_BEFORE =
  /\b(?:for|period of|term of|duration of|until|continue\w*|surviv\w+|expires?|through|within|and|thereafter|of)\b[^.;]{0,50}$/i;
const PERIOD_AFTER =
  /^\W{0,4}(?:\w+ ){0,3}(?:after|from|following|thereafter|subsequent|period|of (?:its|the) (?:disclosure|receipt|expiration|termination)|term)\b/i;
const OTHER_BEFORE =
  /\b(?:notice|notify|return|destroy|request|written notice|prior|pay\w*|in writing within|reduced to writing)\b[^.;]{0,40}$/i;

function isPeriod({ before, after, unit }: Duration): boolean {
  return (
    (unit === 'years' || unit === 'months') &&
    !OTHER_BEFORE.test(before) &&
    (PERIOD_BEFORE.test(before) || PERIOD_AFTER.test(after))
  );
}

const LASTING =
  /\b(?:obligations?|provisions?|duty|duties|covenants?|restrictions?|section|paragraph|article)\b[^;]{0,160}\b(?:survive\w*|continue\w*|remain\w*|expire\w*|terminate\w*|shall (?:be|last)|apply)\b/i;

/**
 * The period in this sentence or in one of the next that says how long the duty lasts; none means that it has no end.
 */
function lasting({ plain, next }: Found) {
  const own = durationsOf(plain).find(isPeriod);
  if (own !== undefined) return stated(own);
  for (const { plain: after } of next) {
    if (
      !LASTING.test(after) ||
      !(SECRET.test(after) || /\bthis (?:section|article|paragraph)\b|\bobligations?\b/i.test(after))
    )
      continue;
    const later = durationsOf(after).find(isPeriod);
    if (later !== undefined) return stated(later);
  }
  const left = [plain, ...next.filter(({ plain: after }) => LASTING.test(after)).map(({ plain: after }) => after)];
  return { basis: left.some((text) => BLANK_PERIOD.test(text)) ? ('blank' as const) : ('indefinite' as const) };
}

const BLANK_PERIOD =
  /\b(?:for|period of|until|within) (?:a |an |the )?(?:\w+ ){0,3}(?:_{2,}|\[[*• ]{1,6}\])[^.;]{0,20}\b(?:years?|months?|after|following|from|thereafter)\b/i;

/** The duty itself, in the plain words for it. */
const DUTY =
  /\b(?:not|neither|never|no|nor|refrain|without)\b[^;]{0,240}\b(?:disclose|disclosed|disclosing|disclosure|divulge|reveal|communicate|publish|furnish|use|utilize|disseminate|make (?:\w+ )?(?:known|available|accessible)|release|copy)\b|\b(?:hold|held|keep|kept|maintain|treat|treated|preserve|retain|protect|safeguard|safeguarded|remain|regard)\w*\b[^;]{0,160}\b(?:confidence|confidential|secret|secrecy|confidentiality|proprietary|secrets|disclosure)\b|\b(?:reasonable|same)\b[^;]{0,60}\b(?:care|efforts?|precautions|steps|measures)\b[^;]{0,160}\b(?:protect|prevent|safeguard)\b/i;
const BINDS =
  /\b(?:shall|will|must|may|agrees?|agreed|undertakes?|covenants?|promises?|obligat\w+|required|continue|keeps?|holds?|protects?|maintains?|treats?)\b/i;
/** "Confidential Information shall not include …" bounds the duty and is none. */
const EXCEPTION =
  /^.{0,200}?\b(?:(?:shall|does|do|will) not (?:include|apply|extend|be deemed|prevent|prohibit)|no obligation|not be (?:obligated|required|liable)|(?:means?|includes?))\b/i;

const en = byCases(
  [
    {
      says: SECRET,
      not: /\bconfidential treatment\b|\binfring\w+\b(?![^;]{0,300}\bdisclose)/i,
      score: 8,
      read: (found) =>
        DUTY.test(found.plain) &&
        BINDS.test(found.plain) &&
        !(
          EXCEPTION.test(found.plain) &&
          !/\b(?:shall|will|agrees?|may|to)\b[^;]{0,40}\bnot (?:to )?(?:directly |indirectly |at any time )?(?:disclose|divulge|use|reveal)\b/i.test(
            found.plain,
          )
        )
          ? lasting(found)
          : null,
    },
    {
      says: /\b(?:confidentiality|non-?disclosure|confidential(?: information)?|secrecy)\b[^;]{0,80}\b(?:agreement|covenants?|obligations?|provisions?|restrictions?)\b/i,
      // "Provided that he complies with his duties of confidentiality" is a condition of something else.
      not: /\binfring|\bother than as a result of|\bnot bound by\b|\bindemnif|^\W{0,3}(?:provided|if|subject to|conditioned|(?:so|as) long as)\b/i,
      score: 6,
      read: (found) => {
        if (
          !/\b(?:dated|entered into|signed|executed|remains?|continues?|survives?|force|bound|compl(?:y|ies)|reaffirm\w*|incorporated|adhere|honou?r|governed)\b/i.test(
            found.plain,
          )
        )
          return null;
        return /\bdated\b|\bsigned\b|\bexecuted\b|\bentered into\b|\bgoverned by\b/i.test(found.plain)
          ? { basis: 'reference', score: 5 }
          : lasting(found);
      },
    },
    {
      says: /\b(?:provisions?|obligations?|section|article|paragraph)\b[^;]{0,60}\bconfidential\w*\b[^;]{0,80}\b(?:survives?|continues?|remains?)\b/i,
      score: 5,
      read: lasting,
    },
    {
      says: /\b(?:obligations?|duties)\b[^;]{0,60}\b(?:survives?|continues?)\b[^;]{0,160}\b(?:confidential|proprietary|trade secrets?)\b/i,
      score: 5,
      read: lasting,
    },
    {
      says: /\b(?:not|never|neither|nor)\b[^;]{0,160}\b(?:disclose|divulge|reveal|make available)\b[^;]{0,200}\b(?:third part(?:y|ies)|any (?:other )?(?:person|party|entity|individual)|others|anyone)\b/i,
      score: 5,
      read: (found) => (BINDS.test(found.plain) ? lasting(found) : null),
    },
    {
      says: /\bthis agreement\b[^;]{0,60}\b(?:is|are|be) (?:strictly )?confidential\b|\b(?:keep|maintain|hold)\b[^;]{0,60}\b(?:terms|existence|contents?|fact)\b[^;]{0,80}\bconfidential\b/i,
      score: 6,
      read: lasting,
    },
  ],
  /\bconfiden|\bnon-?disclosure|\bsecrecy|\bproprietary/i,
);

/** "for five years after disclosure" in a sentence of its own says how long, wherever the duty stands. */
function withOwnPeriod(rule: KindRules['en']): KindRules['en'] {
  return (sentence: Sentence, next) => {
    const hit = rule(sentence, next);
    return hit !== null && hit.value !== null ? { ...hit, score: hit.score + 2 } : hit;
  };
}

const zh = byCases(
  [
    {
      not: /不属于|不包括/,
      says: /保密(?:义务|责任|期限|期)?[^。;]{0,60}(?:期限|期间|期)?(?:为|至|持续|有效|直至|自|:)/,
      score: 10,
      read: ({ plain, match }) => {
        const near = durationsOf(plain.slice(match.index), 30).find(
          ({ unit }) => unit === 'years' || unit === 'months',
        );
        if (near !== undefined) return stated(near);
        if (/_{2,}\s?(?:年|个?月)/.test(plain.slice(match.index))) return { basis: 'blank' };
        return /永久|长期|无限期|公开|公知|公众所知|始终|一直|不因|仍然有效|继续有效/.test(plain)
          ? { basis: 'indefinite' }
          : null;
      },
    },
    {
      says: /(?:保密|商业秘密|技术秘密|秘密信息|机密|不公开信息)/,
      not: /(?:是指|包括但不限于|指的是)(?![^。]{0,200}(?:不得|应))|保密信息不包括|不属于(?:本[^。;]{0,6})?保密|(?:归还|返还|销毁|交还)[^。;]{0,30}(?:载体|资料|信息|文件)|泄密(?:的)?责任[^。;]{0,6}$/,
      score: 7,
      read: ({ plain, next }) => {
        if (
          !/(?:不得|不应|不向|不可|应当?|须|承诺|保证不|有义务|负有|承担|严禁|必须|同意|予以)[^。;]{0,80}(?:泄露|披露|透露|公开|保密|提供|使用|泄漏|告知|复制|保守|传播)|(?:未经|除非)[^。;]{0,60}(?:同意|许可)[^。;]{0,60}(?:不得|披露|泄露)|保守[^。;]{0,30}秘密/.test(
            plain,
          )
        )
          return null;
        for (const text of [plain, ...next.map(({ plain: after }) => after)]) {
          if (!/保密|秘密|本条/.test(text)) continue;
          const found = durationsOf(text, 40).find(
            ({ before, after, unit }) =>
              (unit === 'years' || unit === 'months') &&
              (/(?:后|起|内|为|持续|有效|期限)[^。;,]{0,10}$/.test(before) ||
                /^(?:内|之内|的?(?:保密)?(?:期|义务))/.test(after)),
          );
          if (found !== undefined) return stated(found);
        }
        return { basis: 'indefinite' };
      },
    },
  ],
  /保密/,
);

/** How long what was learned must be kept secret; basis `indefinite` where no end is named. */
export const confidentialityPeriod: KindRules = {
  kind: 'confidentiality_period',
  about: /confiden|proprietary|secre[tc]|disclos|保密|秘密|机密|不公开信息/i,
  en: withOwnPeriod(en),
  zh,
};
