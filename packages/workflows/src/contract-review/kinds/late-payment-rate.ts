import { findQuantities, type Quantity } from '@cleanslate/domain';
import type { ClauseNote } from '../clause.ts';
import { type ClauseRule, EMPTY_READING, type Hit, isBlank, type KindRules } from '../rule.ts';

/** A rate or charge as the clause states it. One without a period is charged once. */
function statedRate(rate: Quantity, notes: readonly ClauseNote[]): Hit {
  const { value, per, conflict } = rate;
  const all: ClauseNote[] = [...notes];
  if (conflict !== undefined) all.push('numbers_disagree');
  if (per === undefined) all.push('charged_once');
  return {
    ...EMPTY_READING,
    value,
    unit: 'percent',
    per: per ?? null,
    basis: 'stated',
    notes: all,
    score: per === undefined ? 4 : 6,
  };
}

function fixedCharge({ value, per, currency }: Quantity, notes: readonly ClauseNote[]): Hit {
  return {
    ...EMPTY_READING,
    value,
    unit: 'amount',
    per: per ?? null,
    currency: currency ?? null,
    basis: 'fixed_amount',
    notes,
    score: 3,
  };
}

/** A rate with its period before one without. */
function bestRate(rates: readonly Quantity[]): Quantity | undefined {
  return rates.find(({ per }) => per !== undefined) ?? rates[0];
}

// English

const CHARGE =
  /\binterest (?:at|on|thereon|from|of|charges?|shall|will|may|rate|for|equal|accru\w+|per)\b|\b(?:bears?|accrues?|accruing|incurs?|pay|charged?|plus|with|subject to|add) (?:\w+ ){0,4}interest\b|\b(?:carry|carries) (?:\S+ ){0,4}interest\b|\brate of interest\b|\bfinance charges?\b|\bservice charges?\b|\blate(?:[- ]payment)? (?:charges?|fees?|penalt(?:y|ies)|interest)\b|\bdelinquency charges?\b|\bdefault (?:rate|interest)\b|\bliquidated damages\b|\bpenalt(?:y|ies)\b|\bcharged (?:a (?:\w+ )?)?[\d.]/i;
const LATENESS =
  /\b(?:late(?:r than due)? (?:\w+ )?(?:payments?|invoices?|accounts?|charges?|fees?|penalt(?:y|ies)|interest)|paid late|overdue|past[- ]due|delinquent|delinquency|in arrears|arrearages?|(?:not|isn't) (?:\w+ ){0,2}(?:paid|received|made|remitted)|unpaid (?:\w+ ){0,2}(?:amounts?|balances?|invoices?|sums?|fees|portion)|(?:amounts?|balances?|invoices?|sums?) (?:\w+ ){0,3}(?:remain\w* )?unpaid|remain\w* unpaid|(?:fail\w*|failure) (?:\w+ ){0,2}(?:to )?(?:pay|make|remit)|default rate|default interest|after (?:the )?(?:due date|maturity|default)|from (?:the )?(?:due date|date (?:when )?due|date such \w+ (?:was|were|is) due)|delay(?:s|ed)? in (?:\w+ )?payments?|delayed payments?|delays? (?:the |its |making )?(?:\w+ )?payments?|payments? (?:is|are) (?:\w+ )?(?:delayed|late|overdue)|due (?:and|but) (?:unpaid|not paid)|(?:upon|after|during|following) (?:the )?(?:\w+ ){0,4}(?:event of )?default|outstanding (?:for )?(?:more|longer) than|demand obligations?)\b/i;
const RATE_WORDS =
  /\b(?:default rate|highest (?:\w+ )?rate|maximum (?:\w+ )?rate|prime|base rate|libor|sofr|legal rate|lawful rate|statutory|rate (?:provided|specified|set forth|described|determined|of interest))\b/i;
const FLOATING =
  /\b(?:prime|base rate|reference rate|libor|sofr|lending rate|discount rate|euribor|treasury|federal funds)\b/i;
const LEGAL_MAXIMUM =
  /\b(?:highest|maximum|greatest|lawful|legal|permitted|allowed)\b[^.;]{0,60}\b(?:law|rate|lawful|permitted|allowed|usury)\b/i;
/** Interest that no late payer owes, and late deeds that are no late payment. */
const FOREIGN =
  /\b(?:409A|applicable federal rate|underpayment|excess payment|separation (?:from|of) service|nonaccrual|non-accrual|excess interest|usur\w+|past due (?:more than )?\d+ days or more|performing assets|troubled debt|security interest|membership interest)\b/i;
const LATE_DEED =
  /\b(?:late|delay(?:ed|s)?|fail\w*) (?:\w+ ){0,3}(?:deliver\w*|complet\w*|perform\w*|shipment|installation|milestone)\b|\bfor each (?:\w+ )?(?:day|week) (?:of delay|that (?:completion|delivery))\b/i;
const LATE_PAYMENT_EN = /\b(?:payments?|paid|invoices?|pay)\b/i;

function isRate(quantity: Quantity, plain: string): boolean {
  if (quantity.unit !== 'percent') return false;
  const before = plain.slice(Math.max(0, quantity.span.start - 60), quantity.span.start);
  // "with a discount of 2%", "underpaid by more than 5%" name other percentages.
  return !/\b(?:discount|more than|greater than|exceeds?|reduc\w+|up to a maximum|not exceed)\b[^.;,]{0,8}$/i.test(
    before,
  );
}

/** A rate named right around a floating one is a margin on it, not the rate. */
function isMargin(quantity: Quantity, plain: string): boolean {
  const before = plain.slice(Math.max(0, quantity.span.start - 120), quantity.span.start);
  const after = plain.slice(quantity.span.end, quantity.span.end + 100);
  if (/^ ?(?:\([^)]*\) ?)?(?:per annum )?,? ?(?:above|over|plus|in excess of|higher than|more than)\b/i.test(after))
    return true;
  if (/\bincreas\w+ (?:\w+ )?(?:by|of) ?(?:an additional )?$/i.test(before)) return true;
  return FLOATING.test(before) && /\b(?:plus|above|and)\b[^.;]{0,30}$/i.test(before);
}

function rateEn(plain: string): Hit | null {
  const quantities = findQuantities(plain);
  const rate = bestRate(quantities.filter((quantity) => isRate(quantity, plain)));
  const notes: ClauseNote[] = LEGAL_MAXIMUM.test(plain) ? ['or_legal_maximum'] : [];
  if (rate !== undefined && !isMargin(rate, plain)) return statedRate(rate, notes);
  const fee = quantities.find(({ unit }) => unit === 'amount');
  if (fee !== undefined && /\blate (?:\w+ )?(?:charge|fee)/i.test(plain)) return fixedCharge(fee, notes);
  if (rate !== undefined || FLOATING.test(plain)) return { ...EMPTY_READING, basis: 'formula', notes, score: 3 };
  if (isBlank(plain)) return { ...EMPTY_READING, basis: 'blank', notes, score: 2 };
  return RATE_WORDS.test(plain) ? { ...EMPTY_READING, basis: 'reference', notes, score: 2 } : null;
}

const en: ClauseRule = ({ plain }) => {
  if (!CHARGE.test(plain) || !LATENESS.test(plain) || FOREIGN.test(plain)) return null;
  return LATE_DEED.test(plain) && !LATE_PAYMENT_EN.test(plain) ? null : rateEn(plain);
};

// Chinese

const CHARGE_ZH = /违约金|滞纳金|罚息|逾期利息|迟延利息|延期利息|利息|罚金|逾期付款损失/;
const LATE_PAYMENT =
  /(?:逾期|迟延|延迟|延期|拖延|推迟)(?:未)?(?:支付|付款|交纳|缴纳|缴付|还款|归还|结算|交付[^。;,]{0,8}(?:租金|款|费))|(?:未|不)[^。;,交供完竣验]{0,24}(?:支付|付款|缴纳|缴付|付清)|拖欠|欠付|欠款|应付未付|未付(?:款|金额|部分)|逾期(?:款项|金额|未付|部分)|滞纳金|罚息|逾期利息|付款逾期|付款义务/;
/** Lateness of whichever party, not tied to one deed: "任何一方逾期履行". */
const ANY_LATENESS = /(?:任何一方|任一方|双方)[^。;]{0,20}(?:逾期|迟延|延迟)(?:履行|支付|付款|的)/;
const LATE_DEED_ZH =
  /(?:逾期|迟延|延迟|延期)(?:交货|交付(?![^。;,]{0,8}(?:租金|款|费))|供货|发货|完工|竣工|交工|提供|履行交货|验收|安装|到货|开工|完成|上线)|未(?:能)?(?:按|在)[^。;,]{0,20}(?:交货|交付|供货|完工|竣工|提供|完成|上线)/;
const FLOATING_ZH = /LPR|贷款市场报价利率|同期[^。;,]{0,12}利率|基准利率|同业拆借|人民银行[^。;,]{0,20}利率/i;
const PAYMENT_NAMED = /逾期(?:支付|付款)|未[^。;,交供完竣验]{0,24}(?:支付|付款|付清)|迟延付款|拖欠|欠付/;
const BY_ANNEX =
  /(?:标准|比例|比率|利率|计算方(?:式|法))[^。;]{0,16}(?:按|见|详见|以|依)[^。;]{0,16}(?:附件|附表|约定|第.{1,5}条)/;

function isRateZh({ unit, span }: Quantity, plain: string): boolean {
  if (unit !== 'percent') return false;
  const before = plain.slice(Math.max(0, span.start - 20), span.start);
  return !/(?:不超过|不得超过|不高于|上限|最高|累计|超过|达到|税率|增值税|折扣|已付|至)[^。;,]{0,12}$/.test(before);
}

function rateZh(plain: string): Hit | null {
  if (FLOATING_ZH.test(plain)) return { ...EMPTY_READING, basis: 'formula', score: 4 };
  const quantities = findQuantities(plain);
  const rate = bestRate(quantities.filter((quantity) => isRateZh(quantity, plain)));
  if (rate !== undefined) return statedRate(rate, []);
  const fee = quantities.find(({ unit, per }) => unit === 'amount' && per !== undefined);
  if (fee !== undefined) return fixedCharge(fee, []);
  if (/_{2,}\s?(?:%|‰)|分之_{2,}/.test(plain)) return { ...EMPTY_READING, basis: 'blank', score: 2 };
  return BY_ANNEX.test(plain) ? { ...EMPTY_READING, basis: 'reference', score: 2 } : null;
}

const zh: ClauseRule = ({ plain }) => {
  if (!CHARGE_ZH.test(plain)) return null;
  const latePayment = LATE_PAYMENT.test(plain);
  if (!latePayment && !ANY_LATENESS.test(plain)) return null;
  // 违约金 for late delivery is another clause, also where the goods' 付款 is mentioned nearby.
  if (LATE_DEED_ZH.test(plain) && !PAYMENT_NAMED.test(plain)) return null;
  const hit = rateZh(plain);
  return hit === null || latePayment ? hit : { ...hit, score: hit.score - 2 };
};

/** The interest or charge for paying late (违约金, 滞纳金, 罚息, 逾期利息). Being late with anything else is another clause. */
export const latePaymentRate: KindRules = {
  kind: 'late_payment_rate',
  about: /interest|charge|\blate\b|fees?\b|penalt|damages|default rate|违约金|滞纳|息|罚金|损失/i,
  en,
  zh,
};
