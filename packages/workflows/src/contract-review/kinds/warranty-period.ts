import { byCases, durationsOf, type Found, isBlank, type KindRules, stated } from '../rule.ts';

/** What a warranty of goods, works or software promises; a representation about a party promises none of it. */
const QUALITY =
  /\b(?:conform\w*|perform\w*|operat\w+|free (?:from|of)|defects?|defective|workmanship|functions?|specifications?|documentation|media|materials?|comply|repair|replace\w*|software|goods|equipment|products?|services?|work)\b/i;
const START =
  /^\W{0,4}(?:\w+ ){0,3}?(?:after|from|following|of|commencing|beginning|as of|thereafter|period|warranty|guarantee|\()/i;
const LEAD =
  /\b(?:for|period of|during|warranty(?: period)?(?: \w+){0,3}|lesser of|expires?|term of|duration of|first)\b[^.;]{0,40}$/i;
const OTHER =
  /\b(?:notif\w+|notice|respond|pay\w*|invoice|refund|cure)\b[^.;]{0,20}\bwithin\b[^.;]{0,20}$|\b(?:efforts?|supply|correct\w*|respond\w*|commence)\b[^.;]{0,60}\bwithin\b[^.;]{0,20}$/i;

/** How soon after being told, not how long it is promised. */
const ON_NOTICE =
  /^\W{0,3}(?:of|after|from|following) (?:the )?(?:receiving|receipt of|being|date of receipt|(?:\w+ )?(?:notice|notification|request|claim))\b/i;

function period({ plain, next }: Found) {
  const found = durationsOf(plain).find(
    ({ before, after }) => !OTHER.test(before) && !ON_NOTICE.test(after) && (LEAD.test(before) || START.test(after)),
  );
  if (found !== undefined)
    return QUALITY.test([plain, ...next.slice(0, 2).map((sentence) => sentence.plain)].join(' ')) ||
      /warranty period/i.test(plain)
      ? stated(found)
      : null;
  if (/\buntil\b[^;]{0,60}\b(?:19|20)\d\d\b/i.test(plain) && QUALITY.test(plain)) return { basis: 'schedule' as const };
  if (isBlank(plain) && /\bperiod\b/i.test(plain)) return { basis: 'blank' as const };
  return null;
}

/** "as long as Customer is on maintenance": a period without a number. */
function conditional({ plain }: Found) {
  return QUALITY.test(plain) ? { basis: 'reference' as const } : null;
}

const PROMISED_THEN =
  /^(?:during|within|throughout|for) (?:that|this|such) (?:time|period)\b[^;]{0,120}\b(?:warrants?|guarantees?|free (?:from|of) defects|perform|conform|repair|replace)\b/i;

const WARRANTS = /\bwarrant(?:s|ed|y|ies)?\b|\bguarantee[sd]?\b/i;
const en = byCases(
  [
    { says: /\bwarranty period\b/i, score: 10, read: period },
    {
      says: WARRANTS,
      not: /\bwarrants? (?:to purchase|for)\b|\bguarant(?:ee|y) of (?:payment|the)|\bguarantor\b/i,
      score: 8,
      read: period,
    },
    {
      // A promise of quality for a time, by whatever verb: "For ninety days after acceptance
      // the Software will perform …".
      says: /\b(?:for|during)\b[^;]{0,40}\b(?:days?|months?|years?)\b[^;]{0,20}\b(?:after|from|following)\b[^;]{0,60}\b(?:deliver\w*|accept\w*|install\w*|complet\w*|ship\w*)\b[^;]{0,80}\b(?:will|shall)\b[^;]{0,20}\b(?:perform|conform|operate|be free|function)\b/i,
      not: /\b(?:support|maintenance) services?\b/i,
      score: 7,
      read: period,
    },
    {
      says: /\b(?:for a period of|within|during)\b[^;]{0,80}\b(?:days?|months?|years?)\b[^;]{0,200}\b(?:correct|repair|replace|remedy)\b[^;]{0,80}\b(?:defects?|defective|non-?conform\w*|errors?)\b|\b(?:correct|repair|replace|remedy)\b[^;]{0,80}\bdefect\w*\b[^;]{0,120}\b(?:within|for|during) (?:a period of )?\w+/i,
      not: /\bnotice|notif|breach|terminat/i,
      score: 5,
      read: period,
    },
    {
      says: /\bwarrants?\b[^;]{0,120}\b(?:as long as|so long as|for so long as|during (?:the|its) (?:\w+ )?(?:term|maintenance|warranty|support)|while)\b|\b(?:during the (?:\w+ )?(?:term|period)|as long as|so long as)\b[^;]{0,120}\bwarrants?\b/i,
      not: /\brepresents? and warrants?\b|\bduring the warranty period\b/i,
      score: 6,
      read: conditional,
    },
    {
      // The period stands before the promise: "Cover runs for a year from delivery. During
      // that time the seller warrants …"
      says: /\b(?:days?|months?|years?)\b/i,
      not: /\b(?:terminat\w+|renew\w*|notice|confidential\w*|pay(?:s|able|ment)?)\b/i,
      score: 6,
      read: (found) => (PROMISED_THEN.test(found.next[0]?.plain ?? '') ? period(found) : null),
    },
  ],
  /\bwarrant(?:y|ies)\b/i,
);

const zh = byCases(
  [
    {
      says: /质保期|保修期|质量保证期|质量保修期|保质期|免费维保期|缺陷责任期|维保期|包修期|质量保证期限|质保|保修/,
      score: 9,
      read: ({ plain, match }) => {
        const after = plain.slice(match.index, match.index + 90);
        const found = durationsOf(after, 40).find(
          ({ before, after: rest }) =>
            !/(?:通知|接到|收到|小时|响应|届满|期满|满后)[^。;,]{0,20}$/.test(before) &&
            !/^(?:内)?[^。;,]{0,16}(?:修复|到场|响应|上门|派员|维修人员|支付|付清|无息|返还|退还)/.test(rest),
        );
        const early = durationsOf(plain.slice(Math.max(0, match.index - 30), match.index), 30).find(({ after: rest }) =>
          /^的?(?:免费)?$/.test(rest),
        );
        if (found !== undefined) return stated(found);
        if (early !== undefined) return stated(early);
        return isBlank(after) ? { basis: 'blank' } : null;
      },
    },
    {
      says: /(?:对|就)[^。;]{0,30}(?:质量)?(?:保证|保修|质保)[^。;]{0,20}(?:期限|期间|期)(?:为|是|:)/,
      score: 8,
      read: ({ plain, match }) => {
        const found = durationsOf(plain.slice(match.index))[0];
        return found === undefined ? null : stated(found);
      },
    },
  ],
  /质保|保修|质量保证/,
);

/**
 * How long goods, works or software are warranted. Without a period (or a condition for one) there is no such clause.
 */
export const warrantyPeriod: KindRules = {
  kind: 'warranty_period',
  about:
    /(?:days|months?|years?)\b|warrant|(?:will|shall) (?:\w+ )?(?:perform|conform|operate)|guarante|defect|质保|保修|质量保证|保质|维保|缺陷责任|包修/i,
  en,
  zh,
};
