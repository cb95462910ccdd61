import { findQuantities, type Quantity } from '@cleanslate/domain';
import type { ClauseUnit } from '../clause.ts';
import { type ClauseRule, EMPTY_READING, type Hit, type KindRules } from '../rule.ts';

type Scores = readonly (readonly [RegExp, number])[];

/** What one language needs for the same reading: which words pay, what they pay, and what else has a period. */
interface Words {
  readonly pay: RegExp;
  /** What is paid: an invoice settles it, an amount or fee speaks for it. */
  readonly objects: Scores;
  /** Money that is no price: what a person earns, a loan, a tax, an insurer's or a court's sum. */
  readonly foreign: RegExp;
  readonly invoice: RegExp;
  /** The least score that makes a clause. */
  readonly minimum: number;
  readonly windows: { readonly before: number; readonly after: number };
  /** How well one duration fits as the time to pay; 0 when it is something else's time. */
  fit(plain: string, quantity: Quantity, before: string, after: string): number;
  /** Clauses that fix when to pay without a number of days. */
  open(plain: string, heading: string, object: number): Hit | null;
  isNet(before: string): boolean;
}

function objectScore(plain: string, { objects }: Words): number {
  return objects.reduce((sum, [pattern, score]) => (pattern.test(plain) ? sum + score : sum), 0);
}

function toUnit({ unit }: Quantity, before: string, words: Words): ClauseUnit | null {
  if (unit === 'days' || unit === 'business_days' || unit === 'weeks' || unit === 'months') return unit;
  return unit === 'number' && words.isNet(before) ? 'days' : null;
}

function periodHit(plain: string, words: Words): Hit | null {
  let best: Hit | null = null;
  for (const quantity of findQuantities(plain)) {
    const before = plain.slice(Math.max(0, quantity.span.start - words.windows.before), quantity.span.start);
    const after = plain.slice(quantity.span.end, quantity.span.end + words.windows.after);
    const unit = toUnit(quantity, before, words);
    const fits = unit === null || quantity.value.length > 3 ? 0 : words.fit(plain, quantity, before, after);
    if (fits === 0) continue;
    const score = fits + objectScore(plain, words);
    if (best !== null && best.score >= score) continue;
    const notes = quantity.conflict === undefined ? [] : (['numbers_disagree'] as const);
    best = { ...EMPTY_READING, value: quantity.value, unit, basis: 'stated', notes, score };
  }
  return best !== null && best.score >= words.minimum ? best : null;
}

function readBy(words: Words, before: ClauseRule = () => null): ClauseRule {
  return (sentence, next) => {
    const { plain, heading } = sentence;
    const special = before(sentence, next);
    if (special !== null) return special;
    if (!words.pay.test(plain) || (words.foreign.test(plain) && !words.invoice.test(plain))) return null;
    return periodHit(plain, words) ?? words.open(plain, heading, objectScore(plain, words));
  };
}

const immediate = (score: number): Hit => ({ ...EMPTY_READING, value: '0', unit: 'days', basis: 'stated', score });

// English

const LEAD_IN =
  /(?:\b(?:within|inside|not later than|no later than|not more than|no more than|not to exceed|not exceeding|in|by|on or before|at the latest|up to|(?:a )?(?:period|term)s? of|is|are|be|shall be|due|payable|for|has|have)|[:(-])(?: (?:the|a|an|each|next|following|a period of|a maximum of|first|their|\w+(?:st|nd|rd|th))){0,4} ?\(?$/i;
const FOLLOW =
  /^\)?,? ?(?:net\b|period|credit|terms?|(?:calendar )?(?:(?:immediately |next )?(?:after|of|from|following|upon)\b)|in arrears|thereafter|end of month|eom\b|if|unless|[.,;)]|$)/i;
/** What starts a period that no invoice or fee is paid in. */
const FOREIGN_START =
  /^\)?,? ?(?:after|of|from|following|upon) (?:\w+ ){0,4}(?:termination|employment|separation|resignation|death|disability|retirement|judgment|award|default|demand|redemption|exercise)\b/i;
const DEFAULT_BEFORE =
  /\b(?:fail(?:s|ed|ing|ure)?|default(?:s|ed)?|non-?payment|past due|overdue|delinquent|breach|cure[ds]?|remed(?:y|ied)|late|remain(?:s|ing)? unpaid|not (?:been )?paid|not receive[d]?|unpaid)\b[^.;]{0,140}$/i;
const OTHER_DEED_BEFORE =
  /\b(?:terminat\w+|notif\w+|notice|object\w*|disput\w+|deliver(?:s|ed)?|submit|provide|return|inspect\w*|reject\w*|request\w*|report|renew\w*|cancel\w*|furnish|correct|repair|replace|issue)\b[^.;,]{0,50}$/i;
const NOTICE_AFTER = /^'?s?'? ?(?:(?:prior|advance|written|its|days') ?){0,3}notice\b/i;
const PAY_AFTER =
  /^[^;]{0,220}?\b(?:(?:shall|will|must|agrees? to|is to|are to|undertakes? to|to) (?:\w+ ){0,2}(?:pay|remit|settle|reimburse|make (?:\w+ ){0,3}payments?)|(?:shall|will|must|is|are|to) (?:be )?(?:promptly )?(?:paid|due|payable|remitted|made)|pays?)\b/i;
const PAY_BEFORE =
  /\b(?:pay|pays|paid|payable|payments?|remit|remits|remitted|settle|settled|reimburse|reimbursed|due|made)\b[^;]{0,220}$/i;
const IMMEDIATE =
  /\b(?:due|payable|paid|pay|payment)\b[^.;]{0,80}\b(?:(?:immediately|promptly)? ?(?:up)?on (?:the )?(?:receipt|presentation|delivery|date) of (?:\w+ ){0,4}invoice|immediately upon (?:receipt|execution|signing|delivery|invoice)|upon receipt\b)/i;
const BLANK =
  /\b(?:within|net|later than|(?:due|payable)(?: (?:in|within))?) (?:\[[^\]]{0,20}\]|_{2,}|\.{4,}|\(_{1,}\)|x{2,})/i;
const SCHEDULE =
  /\b(?:pay|paid|payable|payments?)\b[^;]{0,160}\b(?:according to|in accordance with|as set forth in|as specified in|pursuant to|on the dates? (?:set forth|specified))\b[^;]{0,40}\b(?:payment schedule|schedule of payments?|payment terms|payment milestones?|milestone schedule|schedule set forth|installments?)\b/i;
const IN_ADVANCE =
  /\b(?:fees?|charges?|subscriptions?|royalt(?:y|ies))\b[^.;]{0,120}\b(?:due|payable|paid|invoiced)\b[^.;]{0,40}\b(?:annually|quarterly|monthly|yearly) in (?:advance|arrears)\b/i;
/** When to pay stands in an annex. "The fees set forth in Exhibit A" says what is paid, not when. */
const BY_ANNEX =
  /\b(?:pay|paid|payable|payments?|invoice[ds]?|due)\b(?! the (?:\w+ )?(?:fees?|price|amounts?|sums?) (?:set forth|specified|stated))[^;]{0,120}\b(?:in accordance with|according to|pursuant to|on the terms (?:of|in|set forth in)|payable as (?:set forth|provided|specified|stated) in|paid as (?:set forth|provided|specified|stated) in|at the times? (?:set forth|specified|stated) in)\b[^;]{0,40}\b(?:exhibit|schedule|appendix|attachment|annex)\b/i;

const EN: Words = {
  pay: /\b(?:pay|pays|paid|payable|payments?|remit|remits|remitted|remittance|settle|settled|reimburse|reimbursed|due|invoices?|invoiced|billed|net)\b/i,
  objects: [
    [/\b(?:invoic\w+|bill(?:ed|ing|ings|s)?|statements?)\b/i, 4],
    [/\b(?:payment terms?|terms? of payment|credit terms?)\b/i, 3],
    [
      /\b(?:fees?|charges?|price|royalt(?:y|ies)|amounts?|sums?|payments?|cost|commissions?|consideration|compensation)\b/i,
      2,
    ],
    [/\b(?:receipt of|date of (?:receipt|invoice)|acceptance|delivery)\b/i, 1],
    [/\b(?:expenses?|travel|out-of-pocket)\b/i, -1],
    [/\b(?:execution|effective date|signing|closing|deposit|retainage|retention)\b/i, -1],
    [/\bmilestones?\b/i, -2],
    [/\b(?:audit|underpayment|overpayment|discrepancy)\b/i, -3],
    [/\b(?:refund|rebate|credited?|reimburse (?:the )?(?:buyer|customer|licensee|client))\b/i, -4],
  ],
  foreign:
    /\b(?:severance|separation from service|change (?:of|in) control|cobra|base salary|wages|bonus(?:es)?|employment|executive(?:'s)?|lump sum|principal|loans?|promissory|notes?|prepay\w*|(?<!in )advances?|letters? of credit|borrowing|mortgage|insurance|insurer|polic(?:y|ies)|premiums?|judgments?|tax(?:es)? (?:imposed|return|assess\w+)|dividends?|stock|shares?|option|award|arbitrat\w+|escrow|indemnif\w+|damages|purchase of the (?:shares|stock))\b/i,
  invoice: /\binvoic|\bbilling\b/i,
  minimum: 2,
  windows: { before: 260, after: 260 },
  isNet: (before) => /\bnet ?\(?$/i.test(before),
  fit(plain, quantity, before, after) {
    if (/\bnet ?\(?$/i.test(before)) return 5;
    if (/\b(?:such|said|that) ?\(?$/i.test(before) || FOREIGN_START.test(after) || NOTICE_AFTER.test(after)) return 0;
    if (!LEAD_IN.test(before) || !FOLLOW.test(after)) {
      // "payment is due 30 days after the invoice", "terms: 30 days"
      if (!/\b(?:due|payable|paid|payments?|terms?|made)(?: \w+){0,3} ?:? ?$/i.test(before) || !FOLLOW.test(after))
        return 0;
    }
    if (DEFAULT_BEFORE.test(before)) return /invoice/i.test(after.slice(0, 60)) ? 1 : 0;
    if (OTHER_DEED_BEFORE.test(before) && !/\bpa(?:y|id|yment)\b[^.;,]{0,50}$/i.test(before)) return 0;
    if (PAY_BEFORE.test(before)) return 3;
    return PAY_AFTER.test(after) && quantity.span.start < 200 + plain.length / 2 ? 2 : 0;
  },
  open(plain, heading, found) {
    const object = found + (/\bpayments?\b/i.test(heading) ? 3 : 0);
    if (object < 2) return null;
    if (IMMEDIATE.test(plain)) return immediate(2 + object / 2);
    if (BLANK.test(plain) && /\b(?:invoic\w+|pay\w*)\b/i.test(plain))
      return { ...EMPTY_READING, basis: 'blank', score: 2 + object / 2 };
    if (IN_ADVANCE.test(plain) || SCHEDULE.test(plain)) return { ...EMPTY_READING, basis: 'schedule', score: 1 };
    return BY_ANNEX.test(plain) ? { ...EMPTY_READING, basis: 'reference', score: 1 } : null;
  },
};

const PERIOD_REPORT =
  /^[^;]{0,120}?\bafter the (?:end|close) of (?:each|every) (?:calendar |fiscal )?(?:month|quarter|year)\b[^;]{0,160}\b(?:report|statement)\b/i;
const PAY_WITH_REPORT =
  /\bpay\b[^.;]{0,120}\b(?:by the time|at the time|together with|along with|when|accompan\w+)\b[^.;]{0,40}\b(?:report|statement)\b/i;

/** "Within 30 days after each quarter, Licensee sends a report. … Fees are paid by the time the report is due." */
const reportHit: ClauseRule = ({ plain }, next) => {
  if (!PERIOD_REPORT.test(plain)) return null;
  const together =
    /\b(?:together with|accompanied by|along with) (?:\w+ ){0,3}(?:payments?|royalt(?:y|ies)|fees)\b/i.test(plain);
  if (!together && !next.some((sentence) => PAY_WITH_REPORT.test(sentence.plain))) return null;
  const period = findQuantities(plain).find(({ unit }) => unit === 'days');
  return period === undefined
    ? null
    : { ...EMPTY_READING, value: period.value, unit: 'days', basis: 'stated', score: 5 };
};

// Chinese

const PAID_DEED = '(?:支付|付款|付清|付讫|结清|汇付|汇入|拨付|缴付|打款|结算|电汇)';
const FOLLOW_ZH = /^\s?(?:（?内|之内|以内|内|前|到期|账期|的?账期|后|\(?含)|^\s?[。,;)]|^$|^电汇|^付/;
const PERIOD_BEFORE =
  /(?:后|之日起|日起|次日起|起|期限(?:为|是)?|期为|账期(?:为|是)?:?|月结|票到|货到|应(?:当)?(?:在|于)?|之后|以后|:|为|的第?|不超过|不得超过|不迟于|最迟|在|于)\s?\(?$/;
const PAY_AFTER_ZH = new RegExp(`^[^。;]{0,90}?${PAID_DEED}`);
const PAY_BEFORE_ZH = new RegExp(`(?:${PAID_DEED}|付款期限|支付期限|账期|月结|票到|货到)[^。;]{0,80}$`);
/** Deeds whose own period it is when they come first after the number. */
const OTHER_DEED_AFTER =
  /^(?:之内|以内|内|前)?[^。;,]{0,24}?(?:交货|交付(?!后)|发货|供货|通知|书面|验收(?!合格后)|提出|异议|答复|回复|确认|修复|维修|更换|整改|改正|完工|竣工|开工|解除|终止|退还|返还|退款|开具|提供|提交|响应|到达|移交|安装)/;
const OTHER_DEED_BEFORE_ZH =
  /(?:提前|不少于|保修期|质保期|有效期|服务期|租赁期|交货期|工期|试用期|期限届满前)[^。;,]{0,10}$/;
const DEFAULT_BEFORE_ZH = /(?:逾期|迟延|延迟|拖欠|超过|超出|未(?:能)?(?:按|于|在|支付|付款))[^。;]{0,30}$/;
const IMMEDIATE_ZH = /(?:立即|即时|当日|当场)(?:一次性)?(?:支付|付款|付清|结清)|款到发货|货到付款|见票即付/;
const BLANK_ZH = new RegExp(`_{2,}\\s?(?:个?工作日|日|天|个月)(?:之内|以内|内)[^。;]{0,60}${PAID_DEED}`);
const DAY_OF_MONTH =
  /(?:每月|每个?自然月|次月|当月|每季度|每年)[^。;]{0,20}\d{1,2}\s?[日号](?:之前|以前|前)?[^。;]{0,30}(?:支付|付款|付清|结算|预付)/;
const INSTALMENTS = /分(?:\d{1,2}|[二三四五六])[期次]支付|按(?:以下|下列|如下)[^。;]{0,8}(?:支付|付款)/;
const BY_ANNEX_ZH =
  /(?:付款|支付|结算)(?:方式|期限|时间|条件|安排|进度)?[^。;]{0,30}(?:按|按照|依照|根据|详见|参见|见|以)[^。;]{0,20}(?:附件|附表|补充协议|附录)/;

const ZH: Words = {
  pay: /支付|付款|付清|付讫|结清|结算|汇付|汇入|拨付|缴付|缴纳|打款|账期|月结|票到|货到|电汇/,
  objects: [
    [/发票|账单|对账单|结算单/, 4],
    [/付款期限|付款条件|付款方式|支付期限|支付方式|结算方式|账期|信用期/, 3],
    [
      /合同(?:总)?(?:价款|金额|总额|价|款)|货款|价款|服务费|许可费|使用费|工程款|租金|费用|款项|报酬|余款|尾款|全款|进度款/,
      2,
    ],
    [/验收合格|验收|到货|交付/, 1],
    [/合同(?:签订|签署|生效)|订金|定金|预付款|首付款|保证金|履约保证/, -1],
    [/质保金|质量保证金|保修/, -2],
    [/退还|退款|返还|退回|赔偿金|违约金/, -4],
  ],
  foreign: /工资|薪酬|奖金|经济补偿|补偿金|借款本金|贷款|还款|本金|保险费|社会保险|罚款|诉讼费|仲裁费/,
  invoice: /发票/,
  minimum: 3,
  windows: { before: 100, after: 140 },
  isNet: () => false,
  fit(_plain, _quantity, before, after) {
    if (/(?:账期|月结|票到|货到|付款期限|支付期限)(?:为|是|:|\s)?$/.test(before)) return 5;
    if (!FOLLOW_ZH.test(after) || OTHER_DEED_BEFORE_ZH.test(before) || DEFAULT_BEFORE_ZH.test(before)) return 0;
    const paysAfter = PAY_AFTER_ZH.exec(after)?.[0];
    const other = OTHER_DEED_AFTER.exec(after)?.[0];
    if (other !== undefined && (paysAfter === undefined || other.length < paysAfter.length)) {
      // "20日内完成审核并支付": another deed shares the period when the payment follows in the same breath.
      const [first = '', second = ''] = after.split(/[,;]/);
      const together = first + (/^(?:并|及时|由|且|向)/.test(second) ? second : '');
      if (!new RegExp(PAID_DEED).test(together)) return 0;
    }
    if (paysAfter !== undefined) return PERIOD_BEFORE.test(before) ? 4 : 3;
    return PAY_BEFORE_ZH.test(before) && PERIOD_BEFORE.test(before) ? 3 : 0;
  },
  open(plain, _heading, object) {
    if (BLANK_ZH.test(plain)) return { ...EMPTY_READING, basis: 'blank', score: 2 + Math.max(0, object / 2) };
    if (object >= 2 && IMMEDIATE_ZH.test(plain)) return immediate(2 + object / 2);
    if (object >= 2 && (DAY_OF_MONTH.test(plain) || INSTALMENTS.test(plain)))
      return { ...EMPTY_READING, basis: 'schedule', score: 1 };
    return BY_ANNEX_ZH.test(plain) ? { ...EMPTY_READING, basis: 'reference', score: 1 } : null;
  },
};

/** The time to pay an invoice, fee or price. */
export const paymentTerm: KindRules = {
  kind: 'payment_term',
  about: /pa(?:y|id)|invoic|\bnet\b|due\b|remit|report|付|款|账期|月结|结清|结算|发票/i,
  en: readBy(EN, reportHit),
  zh: readBy(ZH),
};
