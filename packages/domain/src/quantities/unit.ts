import type { Period, QuantityUnit } from './quantity.ts';

/** What a number counts, and how far its decimal point moves to be in that unit (‰ is percent moved by one). */
export interface ReadUnit {
  readonly unit: QuantityUnit;
  readonly shift: number;
  readonly currency?: string;
  readonly end: number;
}

interface UnitRule {
  readonly pattern: RegExp;
  readonly unit: QuantityUnit;
  readonly shift?: number;
  readonly currency?: string;
}

/** In order: the first that matches wins, so longer names stand before their prefixes. All are sticky and bounded. */
const UNITS: readonly UnitRule[] = [
  {
    pattern: /\s{0,12}(?:percentage points?|per ?cent(?:um)?|percent|pct)(?![a-z])|\s{0,3}(?:%|个?百分点)/iy,
    unit: 'percent',
  },
  { pattern: /\s{0,3}‰|\s{0,3}per ?mille?(?![a-z])/iy, unit: 'percent', shift: 1 },
  { pattern: /\s{0,12}(?:basis points?|bps)(?![a-z])|\s?个?基点/iy, unit: 'percent', shift: 2 },
  {
    pattern: /[\s-]{0,12}(?:business|working|banking)[\s-]{1,4}days?(?![a-z])|\s?个?(?:工作日|营业日|交易日|工作天)/iy,
    unit: 'business_days',
  },
  {
    pattern:
      /[\s-]{0,12}(?:calendar[\s-]{1,4}|consecutive[\s-]{1,4})?days?(?![a-z])|\s?(?:个?(?:自然日|日历日|日历天)|天|日(?![元期常息报]))/iy,
    unit: 'days',
  },
  { pattern: /[\s-]{0,12}hours?(?![a-z])|\s?个?小时/iy, unit: 'hours' },
  { pattern: /[\s-]{0,12}weeks?(?![a-z])|\s?个?(?:星期|周(?!年))/iy, unit: 'weeks' },
  { pattern: /[\s-]{0,12}(?:calendar[\s-]{1,4})?months?(?![a-z])|\s?个(?:自然)?月/iy, unit: 'months' },
  { pattern: /[\s-]{0,12}years?(?![a-z])|\s?(?:周年|年)/iy, unit: 'years' },
  { pattern: /\s{0,12}times(?![a-z])|\s?倍/iy, unit: 'multiple' },
  {
    pattern: /\s{0,12}(?:u\.?s\.? dollars?|dollars?|usd)(?![a-z])|\s?(?:美元|美金)/iy,
    unit: 'amount',
    currency: 'USD',
  },
  { pattern: /\s{0,3}(?:港元|港币)|\s{0,3}hkd(?![a-z])/iy, unit: 'amount', currency: 'HKD' },
  { pattern: /\s{0,3}(?:日元|日圆)|\s{0,3}(?:jpy|yen)(?![a-z])/iy, unit: 'amount', currency: 'JPY' },
  { pattern: /\s{0,3}欧元|\s{0,12}(?:euros?|eur)(?![a-z])/iy, unit: 'amount', currency: 'EUR' },
  { pattern: /\s{0,3}英镑|\s{0,12}(?:pounds? sterling|gbp)(?![a-z])/iy, unit: 'amount', currency: 'GBP' },
  { pattern: /\s{0,12}(?:yuan|rmb|renminbi|cny)(?![a-z])|\s?[元圆]整?/iy, unit: 'amount', currency: 'CNY' },
];

const PREFIXES: readonly { readonly pattern: RegExp; readonly currency: string }[] = [
  { pattern: /(?:hk\$|hkd)\s{0,3}$/i, currency: 'HKD' },
  { pattern: /(?:us\s?\$|usd\s?\$?|\$)\s{0,3}$/i, currency: 'USD' },
  { pattern: /(?:rmb\s?¥?|cny|renminbi|人民币|¥)[\s:]{0,3}$/i, currency: 'CNY' },
  { pattern: /(?:€|eur)\s{0,3}$/i, currency: 'EUR' },
  { pattern: /(?:£|gbp)\s{0,3}$/i, currency: 'GBP' },
];

/** Most numbers count nothing; one look at the next character saves trying every unit. */
const UNIT_START = /[\s-]{0,12}[%‰a-z个百基工营交自日天小星周年倍美港欧英元圆]/iy;

export function readUnit(text: string, index: number): ReadUnit | null {
  UNIT_START.lastIndex = index;
  if (!UNIT_START.test(text)) return null;
  for (const { pattern, unit, shift, currency } of UNITS) {
    pattern.lastIndex = index;
    if (!pattern.test(text)) continue;
    return { unit, shift: shift ?? 0, end: pattern.lastIndex, ...(currency === undefined ? {} : { currency }) };
  }
  return null;
}

/** The currency sign or code that ends right before `index`, and where it begins. */
export function readCurrencyPrefix(
  text: string,
  index: number,
): { readonly currency: string; readonly start: number } | null {
  const before = text.slice(Math.max(0, index - 14), index);
  if (!/[$¥€£:币a-z]\s{0,3}$/i.test(before)) return null;
  for (const { pattern, currency } of PREFIXES) {
    const match = pattern.exec(before);
    if (match !== null) return { currency, start: index - match[0].length };
  }
  return null;
}

/** 百分之, 千分之, 万分之 at `index`: how far the point moves to give percent. */
export function readPartPrefix(text: string, index: number): { readonly shift: number; readonly end: number } | null {
  const pattern = /(百|佰|千|仟|万|萬)分之\s?/y;
  pattern.lastIndex = index;
  const part = pattern.exec(text)?.[1];
  if (part === undefined) return null;
  return { shift: '百佰'.includes(part) ? 0 : '千仟'.includes(part) ? 1 : 2, end: pattern.lastIndex };
}

const PERIODS: ReadonlyMap<string, Period> = new Map<string, Period>([
  ...['day', 'daily', 'diem', '日', '天'].map((word): [string, Period] => [word, 'day']),
  ...['week', 'weekly', '周', '星期'].map((word): [string, Period] => [word, 'week']),
  ...['month', 'monthly', '月'].map((word): [string, Period] => [word, 'month']),
  ...['annum', 'year', 'yearly', 'annual', 'annually', 'p.a.', 'apr', '年'].map((word): [string, Period] => [
    word,
    'year',
  ]),
]);

const PER_AFTER =
  /[\s,)]{0,8}(?:(?:simple |compound )?interest )?(?:(?:per|a|an|each|every|for each|for every|\/)\s{0,8}(?:calendar |full |additional )?(day|diem|week|month|annum|year)(?![a-z])|(daily|weekly|monthly|yearly|annually|annual|p\.a\.|apr)(?![a-z])|(?:per|\/|每)\s?(?:一)?(?:个)?(日|天|周|星期|月|年)(?!利))/iy;

/** "0.05% of the overdue amount for each day overdue": what the share is of may stand before its period. */
const PER_AFTER_BASE =
  /\s{1,8}of\s{1,8}(?:the|such|any|each|that)\s{1,8}(?:[a-z-]{2,16}\s{1,8}){1,6}(?:per|for each|for every|each|every)\s{1,8}(?:calendar |full |additional )?(day|week|month|year)(?![a-z])/iy;

/** Words before a rate that give its period. No other rate, and no ceiling, may stand between them and the number. */
const PER_BEFORE =
  /(?:\b(per annum|annual|annually|yearly|per month|monthly|per day|daily|weekly|per week)\b|\b(?:each|every|per) (?:calendar |full |such )?(day|week|month|year)\b|(?:每|按)(?:逾期|延迟|迟延|拖欠|延期)?(?:一|1)?个?(日|天|周|星期|月|年)|(日|月|年)(?:利率|息|化|费率)|(日)(?=(?:万|千|百)分之|$))([^.;。%‰]{0,60})$/i;

const BETWEEN_FORBIDS = /percent|分之|exceed|maximum|up to|上限|最高|累计|总额不|compound/i;

function toPeriod(word: string): Period | undefined {
  const plain = word.toLowerCase().replace(/^per /, '');
  return PERIODS.get(plain);
}

export function readPeriodAfter(text: string, index: number): { readonly per: Period; readonly end: number } | null {
  for (const pattern of [PER_AFTER, PER_AFTER_BASE]) {
    pattern.lastIndex = index;
    const match = pattern.exec(text);
    const per = match === null ? undefined : toPeriod(match[1] ?? match[2] ?? match[3] ?? '');
    if (per !== undefined) return { per, end: pattern.lastIndex };
  }
  return null;
}

export function readPeriodBefore(text: string, index: number): Period | undefined {
  // The last period word counts, so the window grows until it holds one.
  for (const width of [12, 30, 70]) {
    const match = PER_BEFORE.exec(text.slice(Math.max(0, index - width), index));
    if (match === null) continue;
    if (BETWEEN_FORBIDS.test(match[6] ?? '')) return undefined;
    return toPeriod(match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5] ?? '');
  }
  return undefined;
}
