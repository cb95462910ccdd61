import { byCases, durationsOf, type Found, type KindRules, stated } from '../rule.ts';

/** What is renewed is no contract: a note, a policy, the maintenance that goes with a licence. */
const OTHER =
  /\b(?:insurance|policy|policies|letters? of credit|indebtedness|promissory|notes?|loans?|liens?|permits?|registration|patent|trademark|stock option|options? (?:to purchase|granted)|refinanc\w*|replacements?|borrowing|guarant(?:y|ee|ies)|maturity|time (?:for|of|to)|extends? to\b|extension of (?:time|the time|credit|payment)|extended (?:warranty|by (?:law|delay)))\b/i;
const MAINTENANCE = /\b(?:maintenance|support|subscription)\b/i;
const NOTICE_AFTER =
  /^\W{0,3}(?:(?:prior|advance|written|calendar|days'?)\W){0,3}(?:notice|prior|before|following|after)\b/i;
const NOTICE_BEFORE =
  /\b(?:at least|less than|within|not later than|no later than|notice of|minimum of|more than)\b[^.;]{0,30}$/i;

/** How long a renewal lasts, if it says. */
function length({ plain, match }: Found) {
  // "renewed for a term of one year" and "successive one-year terms" stand around the word.
  const near = durationsOf(plain.slice(Math.max(0, match.index - 40))).find(
    ({ before, after }) => !NOTICE_AFTER.test(after) && !NOTICE_BEFORE.test(before),
  );
  if (near !== undefined) return stated(near);
  return /\b(?:year to year|yearly|annually|annual)\b/i.test(plain)
    ? { value: '1', unit: 'years' as const, basis: 'stated' as const }
    : {};
}

const automatic = (found: Found) => ({ ...length(found), choice: 'automatic' });
const agreed = (found: Found) => ({ ...length(found), choice: 'by_agreement' });
const optional = (found: Found) => ({ ...length(found), choice: 'by_option' });

const DEAL = String.raw`\b(?:agreement|contract|license|lease|term|employment|engagement)\b`;
const enCases = byCases(
  [
    {
      says: /\bunless\b[^;]{0,120}\b(?:shall|will) be (?:\w+ )?(?:renewed|extended)\b|\b(?:automatic(?:ally)?|deemed)\b[^;]{0,60}\b(?:renew\w*|extend\w*|extension)\b|\brolls? over\b|\b(?:renew\w*|extend\w*|extension)\b[^;]{0,60}\b(?:automatically|successive|year[- ]to[- ]year|unless (?:either|written|terminated|one|notice|the|prior))/i,
      score: 10,
      read: automatic,
    },
    {
      says: /\b(?:renew(?:ed|s|al|able)?|extend(?:ed|s)?|extension)\b[^;]{0,120}\b(?:mutual|agreement of|agreed|written (?:agreement|consent)|both parties|the parties)\b|\b(?:mutual\w*|parties)\b[^;]{0,80}\b(?:agree\w*|consent)\b[^;]{0,60}\b(?:renew|extend|extension)\w*/i,
      score: 8,
      read: agreed,
    },
    {
      says: /\b(?:option|right|entitled|may|elect)\b[^;]{0,60}\bto (?:renew|extend)\b|\bmay (?:be )?(?:renew|extend)(?:ed)?\b|\brenewable\b/i,
      score: 7,
      read: optional,
    },
    {
      says: /\b(?:renewal (?:term|period)s?|additional (?:term|period)s?|successive (?:\w+[- ]){0,3}(?:term|period|year)s?)\b/i,
      // "at the end of any renewal term" speaks of one that another clause grants.
      not: /\b(?:any|such|each|applicable|current) renewal (?:term|period)\b/i,
      score: 4,
      read: optional,
    },
  ],
  /\brenewal\b|\bterm\b/i,
);

const en: KindRules['en'] = (sentence, next) => {
  const { plain, heading } = sentence;
  // A heading names the clause; what it says stands below.
  if (plain === heading && durationsOf(plain).length === 0) return null;
  const subject = new RegExp(DEAL, 'i');
  if (!/\brenew|\brolls? over\b|\bextend|\bextension|\bsuccessive|\badditional (?:term|period)/i.test(plain))
    return null;
  if (OTHER.test(plain) || !(subject.test(plain) || /\bterm\b|renewal/i.test(heading))) return null;
  // Renewing a licence's maintenance renews no contract, unless the sentence renews both.
  if (
    MAINTENANCE.test(`${plain} ${heading}`) &&
    !/\b(?:this|the) (?:agreement|contract|license agreement)\b[^;]{0,60}\b(?:renew|extend)/i.test(plain)
  )
    return null;
  return enCases(sentence, next);
};

const NOT_NOTICE_ZH = /(?:提前|前|至少|不少于)[^。;,]{0,8}$/;
function lengthZh({ plain, match }: Found) {
  const near = durationsOf(plain.slice(match.index), 30).find(
    ({ before, after }) => !NOT_NOTICE_ZH.test(before) && !/^(?:前|以前|之前|内|书面|通知|的?书面)/.test(after),
  );
  return near === undefined ? {} : stated(near);
}

const RENEWS = '(?:续期|续签|续约|续订|顺延|续展|延续|延长|展期|续聘|续租)';
const zh = byCases(
  [
    {
      says: new RegExp(`(?:自动|自然|视为)[^。;]{0,12}?${RENEWS}|(?:合同|协议|期限)[^。;]{0,20}自动`),
      not: /工期|付款期|交货|履行期限(?:相应)?顺延|自动(?:终止|失效|解除)/,
      score: 10,
      read: (found) => ({ ...lengthZh(found), choice: 'automatic' }),
    },
    {
      says: new RegExp(
        `(?:协商|书面同意|双方同意|另行签订|一致)[^。;]{0,30}${RENEWS}|${RENEWS}[^。;]{0,40}(?:协商|另行|书面|同意|签订)`,
      ),
      not: /工期|付款期|交货期|质保期|履行期限|贷款展期|自动(?!终止)|(?:有权|可以?)要求/,
      score: 8,
      read: (found) => ({ ...lengthZh(found), choice: 'by_agreement' }),
    },
    {
      says: new RegExp(`(?:有权|可以?|优先|要求|希望|需要?|愿意)[^。;]{0,20}${RENEWS}`),
      not: /工期|付款期|交货期|质保期|履行期限|贷款|自动/,
      score: 7,
      read: (found) => ({ ...lengthZh(found), choice: 'by_option' }),
    },
  ],
  /续|期限/,
);

/** Whether the contract goes on after its term; `choice` is automatic, by_option or by_agreement. */
export const renewal: KindRules = {
  kind: 'renewal',
  about: /renew|rolls? over|extend|extension|successive|additional (?:term|period)|续|顺延|延长|延续|展期|自动/i,
  en,
  zh,
};
