import { type Figure, figuresOf, type Interval, type Period } from '@cleanslate/domain';
import { type QuestionWords, wordsOfQuestion } from './words-of-question.ts';

const VALUE_SORTS = ['duration', 'share', 'money', 'count'] as const;
export type ValueSort = (typeof VALUE_SORTS)[number];
export type Bound = 'most' | 'least';

/** What an answer must have, read from the words of the question alone. */
export type QuestionNeed = {
  readonly question: string;
  readonly words: QuestionWords;
  /** A fact about another time ("the budget for 2026") answers another question. */
  readonly period: Interval | null;
  /** Sort of number asked for; `required` if the question can't be answered without one. */
  readonly sort: ValueSort | null;
  readonly numberRequired: boolean;
  readonly bound: Bound | null;
  /** "per month": a figure for another period is another figure. */
  readonly per: Period | null;
  /** Currencies that may be meant: "in dollars". Null: none is named in words. */
  readonly currencies: readonly string[] | null;
  readonly yesOrNo: boolean;
  /** Somebody is asked for. */
  readonly who: boolean;
  /** Numbers in the question: a fact about another number answers another question. */
  readonly figures: readonly Figure[];
};

const SORTS: readonly (readonly [ValueSort, RegExp])[] = [
  [
    'share',
    /\b(?:what|which) (?:percentage|share|proportion|interest rate|rate)\b|\bhow (?:many|much) per ?cent\b|\bpercent(?:age)?\b|\brate\b|\binterest\b|利率|比例|百分|费率|税率|利息/i,
  ],
  [
    'duration',
    /\bhow (?:long|many (?:\w+ )?(?:days|weeks|months|years|hours)|soon|quickly)\b|\b(?:period|term|deadline|duration|notice|time limit)\b|多久|多长时间|(?:多少|几)(?:个)?(?:天|日|工作日|周|月|年|小时)|期限|期间/i,
  ],
  [
    'money',
    /\bhow much\b|\bwhat (?:amount|sum|price)\b|\b(?:price|cost|fee|budget|allowance|limit|cap)\b|多少钱|多少(?:万)?元|金额|限额|费用|预算|补贴|标准/i,
  ],
  ['count', /\bhow many\b|多少(?:人|次|个|台|份)|几(?:人|次|个|台|份)/i],
];
const NUMBER_ASKED =
  /\bhow (?:long|many|much|soon|quickly|high|large)\b|\b(?:what|which) (?:percentage|share|amount|number|sum)\b|多少|多久|多长|多高|多大|几(?:个|天|日|月|年|次|人)/i;
const MOST =
  /\b(?:maximum|max|at most|no more than|longest|highest|upper|latest|exceed)\b|最多|至多|最长|最高|上限|不得超过|不超过|最晚/i;
const LEAST =
  /\b(?:minimum|min|at least|no less than|shortest|lowest|lower|earliest)\b|最少|至少|最短|最低|下限|不得少于|不少于|不得低于|不低于|最早/i;
const PERS: readonly (readonly [Period, RegExp])[] = [
  ['day', /\b(?:per|a|each|every) day\b|\bdaily\b|每日|每天/i],
  ['week', /\b(?:per|a|each|every) week\b|\bweekly\b|每周/i],
  ['month', /\b(?:per|a|each|every) month\b|\bmonthly\b|每月/i],
  ['year', /\b(?:per|a|each|every) year\b|\b(?:yearly|annually|per annum)\b|每年/i],
];
/** Codes and signs stand in the words or in the figures; so asked for, these words name the amount's currency, not what it is for. */
const CURRENCIES: readonly (readonly [currencies: readonly string[], RegExp])[] = [
  [['EUR'], /\b(?:in|how many) euros?\b/i],
  [['USD', 'HKD'], /\b(?:in|how many) (?:us |hong kong )?dollars?\b/i],
];
const YES_NO =
  /^(?:is|are|was|were|may|must|can|could|do|does|did|should|shall|will|has|have)\b|吗$|是否|能否|可否|能不能|可不可以/i;

/** `period`: the time it is about; null: the pin. */
export function needOf(question: string, period: Interval | null = null): QuestionNeed {
  const sort = SORTS.find(([, pattern]) => pattern.test(question))?.[0] ?? null;
  return {
    words: wordsOfQuestion(question),
    question,
    period,
    sort,
    numberRequired: NUMBER_ASKED.test(question),
    bound: MOST.test(question) ? 'most' : LEAST.test(question) ? 'least' : null,
    per: PERS.find(([, pattern]) => pattern.test(question))?.[0] ?? null,
    currencies: CURRENCIES.find(([, pattern]) => pattern.test(question))?.[0] ?? null,
    yesOrNo: YES_NO.test(question.trim()),
    who: /^(?:by |to )?who(?:m|se)?\b|谁|何人/i.test(question.trim()),
    figures: figuresOf(question).filter(({ text }) => /[\d０-９]/.test(text)),
  };
}

const FACT_MOST =
  /\b(?:at most|no more than|not exceed|up to|maximum|not be (?:longer|more|higher) than|within|no later than)\b|不得超过|不超过|不得多于|不得高于|最多|最长|最高|以内|之内|天内|日内/i;
const FACT_LEAST =
  /\b(?:at least|no less than|minimum|not be (?:less|shorter|lower|fewer) than|not fall below)\b|不得少于|不少于|不得低于|不低于|至少|最少|最短|最低|以上/i;

/** Which end a statement bounds; null if it names a value, or both. */
export function boundOf(statement: string, predicate: string | null): Bound | null {
  if (predicate !== null && /^max(?:imum)?_/i.test(predicate)) return 'most';
  if (predicate !== null && /^min(?:imum)?_/i.test(predicate)) return 'least';
  const [most, least] = [FACT_MOST.test(statement), FACT_LEAST.test(statement)];
  return most === least ? null : most ? 'most' : 'least';
}

const DURATIONS: ReadonlySet<string> = new Set(['days', 'business_days', 'hours', 'weeks', 'months', 'years']);

export function sortOf({ unit }: Pick<Figure, 'unit'>): ValueSort {
  if (DURATIONS.has(unit)) return 'duration';
  if (unit === 'percent' || unit === 'multiple') return 'share';
  return unit === 'amount' ? 'money' : 'count';
}
