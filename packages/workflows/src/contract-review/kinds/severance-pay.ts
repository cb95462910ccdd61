import { findDates, findQuantities } from '@cleanslate/domain';
import { byCases, type Duration, durationsOf, type Found, type KindRules, stated } from '../rule.ts';

const PAY = /\b(?:salary|compensation|pay(?:ments?)?|wages|base|remuneration|earnings|benefits?|bonus)\b/i;
const NOT_LENGTH_BEFORE =
  /\b(?:within|notice|after|following|prior|preceding|last|previous|than|disab\w+|age|release|revo\w+|least|every|each|COBRA|coverage|insurance|health|medical|consider\w*|twenty-one|every)\b[^.;,]{0,40}$/i;
const NOT_LENGTH_AFTER =
  /^\W{0,3}(?:(?:prior|written|advance) ){0,2}(?:notice|(?:following|after|of|from|prior to|before)\b(?! (?:[\w'’-]+ ){0,3}(?:base|salary|pay|compensation)))/i;

/** An average over the last years is a measure of pay, not how much of it is owed. */
function isMeasure({ before, after }: Duration): boolean {
  return (
    /\b(?:average|bonus\w*)\b[^;]{0,80}$/i.test(before) &&
    /^\W{0,3}(?:immediately |most recently )?(?:prior|preceding|before|ended|ending)\b/i.test(after)
  );
}

/** "one week's salary for each year of service" grows with the service. */
const PER_YEAR = /\b(?:for (?:each|every)|per)\b[^.;,]{0,20}\byears?\b/i;

/** "a lump sum equal to 250% of her annual salary" */
const SHARE = /\blump[- ]sum\b[^;]{0,80}\b\d{2,3}(?:\.\d{1,2})?\s?%\)? of\b[^;]{0,80}\b(?:salary|compensation|pay)\b/i;

/** "in the amount set forth on Schedule 2" */
const ELSEWHERE =
  /\bamounts? (?:\w+ ){0,2}?(?:set forth|set out|specified|stated|listed|shown|indicated)\b[^.;]{0,40}\b(?:schedule|appendix|exhibit|annex|attachment|addendum|cover page)\b/i;

const LEFT_BLANK =
  /\$\s?_{2,}|_{2,}\s?(?:\([^)]{1,20}\) )?(?:weeks?|months?|years?|dollars|times|percent|%)|\b(?:equal to|amount of|pay(?: to)?(?: the)? \w+) _{2,}/i;

/** "for nine months following termination" is how long, "within thirty days following" is when. */
const LENGTH_BEFORE = /\b(?:for|period of|equal to|during the)\b[^.;,]{0,25}$/i;

/** "from June 1, 2000 to December 31, 2000" is seven months. */
function monthsBetween(plain: string): string | null {
  const dates = findDates(plain).map(({ iso }) => iso);
  for (let index = 0; index + 1 < dates.length; index += 1) {
    const from = new Date(`${dates[index]}T00:00:00Z`);
    const until = new Date(`${dates[index + 1]}T00:00:00Z`);
    if (Number.isNaN(from.getTime()) || Number.isNaN(until.getTime())) continue;
    // A last day counts: from the 1st through the 31st is a month.
    const end = new Date(until.getTime() + 86_400_000);
    const months = (end.getUTCFullYear() - from.getUTCFullYear()) * 12 + end.getUTCMonth() - from.getUTCMonth();
    if (months > 0 && months <= 60 && end.getUTCDate() === from.getUTCDate()) return `${months}`;
  }
  return null;
}

function amount({ plain, match, next }: Found) {
  if (ELSEWHERE.test(plain)) return { basis: 'reference' as const };
  const found = durationsOf(plain, 120).find(
    (duration) =>
      (duration.unit === 'months' || duration.unit === 'weeks' || duration.unit === 'years') &&
      !isMeasure(duration) &&
      !NOT_LENGTH_BEFORE.test(duration.before) &&
      (LENGTH_BEFORE.test(duration.before) || !NOT_LENGTH_AFTER.test(duration.after)) &&
      PAY.test(`${duration.before} ${duration.after}`),
  );
  if (found !== undefined)
    return PER_YEAR.test(found.after.slice(0, 90)) ? { basis: 'formula' as const } : stated(found);
  const months = /\bfrom\b|\bthrough\b|\buntil\b/i.test(plain)
    ? (monthsBetween(plain) ?? monthsBetween(`${plain} ${next[0]?.plain ?? ''}`))
    : null;
  if (months !== null) return { value: months, unit: 'months' as const, basis: 'stated' as const };
  const quantities = findQuantities(plain.slice(Math.max(0, match.index - 300)));
  const multiple = quantities.find(({ unit }) => unit === 'multiple');
  if (multiple !== undefined) return { value: multiple.value, unit: 'multiple' as const, basis: 'stated' as const };
  const sum = quantities.find(({ unit, currency }) => unit === 'amount' && currency !== undefined);
  if (sum !== undefined)
    return {
      value: sum.value,
      unit: 'amount' as const,
      currency: sum.currency ?? null,
      basis: 'fixed_amount' as const,
    };
  return { basis: LEFT_BLANK.test(plain) ? ('blank' as const) : ('formula' as const) };
}

/** "in lieu of any severance benefits" alone grants none. */
function onlyReplaces(plain: string): boolean {
  return !/\b(?:severance|separation)\b/i.test(plain.replace(/\bin lieu of (?:any )?(?:other )?severance\b/gi, ''));
}

const en = byCases(
  [
    {
      says: /\b(?:severance|separation) (?:pay\w*|period|benefits?|compensation|amount|allowance|package|installments?)\b|\bseverance: |\bseverance,? (?:equal\b|in (?:the|an) amount\b|consisting\b|of (?=\$|\d|\w+ (?:\(\d+\) )?(?:weeks|months|years)))|\b(?:as|pay|paid|receive|entitled to) (?:\w+ ){0,3}severance\b(?! of)/i,
      not: /"(?:severance|separation) [^"]{3,40}" (?:shall )?means?\b(?![^;]{0,300}\b(?:months?|salary|equal))|\bno (?:severance|separation)\b|\bnot (?:be )?(?:entitled|eligible)[^;]{0,40}\bseverance|\b(?:severance|separation) (?:pay|benefit) plan\b[^;]{0,20}$|\b409A\b|\bTreasury Regulation/i,
      score: 9,
      read: (found) =>
        /\b(?:pay|paid|pays|payable|receive|entitled|provide[ds]?|equal|continue\w*|shall be|will be|is)\b/i.test(
          found.plain,
        ) && !onlyReplaces(found.plain)
          ? withWeight(amount(found))
          : null,
    },
    {
      says: /\b(?:continue|continuation|pay|paid|receive|entitled|payable)\b[^;]{0,160}\b(?:base )?(?:salary|compensation|pay)\b[^;]{0,160}\b(?:for|through|until|equal|period|months?|times)\b|\b(?:pay|paid|receive|entitled to|payment)\b[^;]{0,160}\b(?:equal to|of)\b[^;]{0,60}\b(?:months?|weeks?|years?|times)\b[^;]{0,80}\b(?:salary|compensation|pay|wages)\b|\blump[- ]sum\b[^;]{0,80}%\)? of\b/i,
      not: /\bnotice of termination\b[^;]{0,40}\bdays\b|\bvacation\b|\bannual(?:ly)? (?:review|increase)|\baccrued\b(?![^;]{0,200}\bmonths?)/i,
      score: 6,
      read: (found) =>
        /\b(?:terminat\w+|separation|severance|without cause|good reason|cease[ds]?|resign\w*|change (?:in|of) control)\b/i.test(
          found.plain,
        )
          ? numbersOnly(found)
          : null,
    },
    {
      // Under the heading "Severance", what is paid needs no other word for it.
      says: /\b(?:pay|paid|receive|entitled|provide)\b[^;]{0,160}\b(?:salary|compensation|pay|wages|lump sum|amount)\b/i,
      not: /\baccrued\b|\bvacation\b|\bbonus for\b/i,
      score: 6,
      read: (found) => (/\bseverance\b/i.test(found.sentence.heading) ? numbersOnly({ ...found, next: [] }) : null),
    },
  ],
  /\bseverance|\bseparation|\btermination/i,
);

type Read = ReturnType<typeof amount>;
/** A passage that says how much outranks one that only names the pay. */
function withWeight(read: Read) {
  return read.basis === 'formula' ? { ...read, score: 5 } : read;
}

/** Where no word for severance stands, only a number or a number per year makes it one. */
function numbersOnly(found: Found) {
  const read = amount(found);
  const counted =
    'value' in read || (read.basis === 'formula' && (PER_YEAR.test(found.plain) || SHARE.test(found.plain)));
  return counted ? read : null;
}

const zh = byCases(
  [
    {
      says: /(?:经济补偿|离职补偿|解约补偿|遣散费|离职补助|补偿金)(?:金|款)?/,
      not: /竞业(?:限制|禁止)(?:经济)?补偿|竞业限制期|无需支付[^。;]{0,10}补偿|不(?:予|再)?支付[^。;]{0,12}补偿|违约/,
      score: 8,
      read: ({ plain }) => {
        if (!/支付|给予|发放|补偿(?:标准|金额)|相当于|按/.test(plain)) return null;
        const found = durationsOf(plain, 40).find(
          ({ after, unit }) =>
            (unit === 'months' || unit === 'weeks') &&
            /^[^。;,]{0,12}(?:工资|薪资|薪酬|月薪|基本工资|底薪|报酬|标准)/.test(after),
        );
        if (found !== undefined && /每满一年|每工作|工作年限|按(?:照)?[^。;]{0,20}(?:年限|法)/.test(plain))
          return { basis: 'formula' };
        if (found !== undefined) return stated(found);
        const sum = findQuantities(plain).find(({ unit }) => unit === 'amount');
        return sum === undefined
          ? { basis: 'formula', score: 5 }
          : { value: sum.value, unit: 'amount', currency: sum.currency ?? null, basis: 'fixed_amount' };
      },
    },
  ],
  /补偿|解除|终止/,
);

/** What an employee is paid when the work ends. */
export const severancePay: KindRules = {
  kind: 'severance_pay',
  about: /severance|separation|salary|compensation|base pay|wages|经济补偿|离职|遣散|补偿金/i,
  en,
  zh,
};
