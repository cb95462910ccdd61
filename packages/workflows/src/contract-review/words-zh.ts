import type { ClauseKind, ClauseNote, PresentClause } from './clause.ts';
import type { Force, Unusable } from './policy.ts';
import type { Problem } from './schemas.ts';
import { cut, type Words } from './words.ts';

const KINDS: Readonly<Record<ClauseKind, string>> = {
  payment_term: '付款期限',
  late_payment_rate: '逾期付款违约金比率',
  liability_cap: '赔偿责任上限',
  term: '合同期限',
  termination_notice: '解除通知或纠正期限',
  renewal: '续约',
  confidentiality_period: '保密期限',
  governing_law: '适用法律',
  dispute_resolution: '争议解决方式',
  assignment: '合同转让',
  ip_ownership: '知识产权归属',
  warranty_period: '质保期',
  severance_pay: '经济补偿',
  non_compete: '竞业限制期限',
};

const BASES: Readonly<Record<string, string>> = {
  fees_paid: '已支付的费用',
  formula: '按公式计算，没有单一数值',
  reference: '由其他文件或条款确定',
  blank: '空白未填',
  schedule: '由日期确定，而非期限',
  indefinite: '没有确定的终期',
  provision: '有约定但无数值',
  exclusion_only: '仅排除部分损失类型，未设上限',
};

/** Where a word of one kind says it better. */
const OF_KIND: Partial<Record<ClauseKind, Readonly<Record<string, string>>>> = {
  payment_term: { schedule: '按分期或日期，而非期限' },
};

const CHOICES: Readonly<Record<string, string>> = {
  arbitration: '仲裁',
  courts: '诉讼',
  negotiation: '协商',
  automatic: '自动续约',
  by_agreement: '经双方协商续约',
  by_option: '一方有权续约',
  consent_required: '须经同意',
  prohibited: '禁止转让',
  free: '可自由转让',
  cure: '纠正期',
  convenience: '通知期',
};

const ASKS: Readonly<Record<Force, string>> = { must: '要求', should: '建议', may: '许可' };
const STATES: Readonly<Record<Force, string>> = { must: '应当写明', should: '宜写明', may: '可以写明' };

const PROBLEMS: Readonly<Record<Exclude<Problem, 'above_maximum' | 'below_minimum'>, string>> = {
  missing: '缺失',
  not_accepted: '与政策认可的不同',
  no_ceiling: '条款没有设定赔偿上限',
  left_blank: '条款数值未填写',
  not_comparable: '无法与政策数值直接比较，需人工判断',
};

const NOTES: Readonly<Record<ClauseNote, string>> = {
  numbers_disagree: '条款中文字与数字不一致，以前者为准。',
  or_legal_maximum: '条款另以法定最高利率为限。',
  charged_once: '该比率未写明计算周期，按一次性收取理解。',
  fees_of_a_period: '条款仅以其所述期间内的费用为限，并非全部已付费用。',
  other_values_elsewhere: '合同其他位置另有不同约定，见佐证段落。',
};

const UNITS: Readonly<Record<string, string>> = {
  days: '天',
  business_days: '个工作日',
  weeks: '周',
  months: '个月',
  years: '年',
};
const PERIODS: Readonly<Record<string, string>> = { day: '每日', week: '每周', month: '每月', year: '每年' };
const CURRENCIES: Readonly<Record<string, string>> = {
  CNY: '人民币',
  USD: 'USD ',
  HKD: 'HKD ',
  EUR: 'EUR ',
  JPY: 'JPY ',
  GBP: 'GBP ',
};

function money(value: string, currency: string | null): string {
  return currency === 'CNY' ? `人民币${value}元` : `${CURRENCIES[currency ?? ''] ?? ''}${value}`;
}

function reading(clause: PresentClause): string {
  const { kind, value, unit, per, currency, choice, basis } = clause;
  const chosen = choice === null ? null : (CHOICES[choice] ?? choice);
  // That nothing is filled in says more than what it would have been for.
  if (basis === 'blank') return BASES[basis] ?? basis;
  if (value === null || unit === null) return chosen ?? OF_KIND[kind]?.[basis] ?? BASES[basis] ?? basis;
  const period = per === null ? '' : (PERIODS[per] ?? '');
  if (unit === 'percent') return basis === 'percent_of_price' ? `合同价款的${value}%` : `${period}${value}%`;
  if (unit === 'amount') return `${period}${money(value, currency)}`;
  if (unit === 'multiple') return `${kind === 'severance_pay' ? '薪酬' : '费用'}的${value}倍`;
  const length = `${value}${UNITS[unit] ?? unit}`;
  return chosen === null ? length : `${length}（${chosen}）`;
}

function deviation(problem: Problem, force: Force): string {
  if (problem === 'above_maximum') return `高于政策${force === 'must' ? '允许' : ASKS[force]}的数值`;
  return problem === 'below_minimum' ? `低于政策${ASKS[force]}的数值` : PROBLEMS[problem];
}

function unusable(why: Unusable): string {
  switch (why.code) {
    case 'negated':
      return '否定形式的规则无法比较，请改写为上限或下限';
    case 'doubtful':
      return '其表述自称为推测，请改写为确定的规则';
    case 'instruction_like':
      return '其表述是对机器的指示，而不是规则；请核查其来源';
    case 'unvouched':
      return `没有人确认过它（来源为 ${why.sourceType}）；若确为政策，请由人导入`;
    case 'no_rule':
      return `“${cut(why.predicate)}”不是 ${why.subject} 的规则；可用的规则有 ${why.rules.join('、')}`;
    case 'no_number':
      return `数值“${cut(why.value)}”不是非负数字`;
    case 'no_currency':
      return `金额须以币种为单位，例如 CNY，${why.unit === null ? '此处未写单位' : `而不是“${cut(why.unit)}”`}`;
    case 'wrong_unit':
      return `单位“${cut(why.unit)}”无法比较，请写 ${why.wanted}`;
    case 'no_truth_value':
      return `值“${cut(why.value)}”既非 true 也非 false`;
    case 'no_choice':
      return `值“${cut(why.value)}”没有列出任何可接受的选项`;
  }
}

export const ZH_WORDS: Words = {
  kinds: KINDS,
  severities: { LOW: '低', MEDIUM: '中', HIGH: '高' },
  reading,
  measured(value, measure, unit) {
    if (measure === 'days') return `${value}天`;
    if (measure === 'months') return `${value}个月`;
    if (measure === 'percent_per_year') return `每年${value}%`;
    if (measure === 'percent_of_price') return `合同价款的${value}%`;
    return measure === 'amount' ? money(value, unit) : `费用的${value}倍`;
  },
  bound: (bound, measured) => `${bound === 'max' ? '不超过' : '不低于'}${measured}`,
  oneOf: (accepted) => accepted.map((choice) => CHOICES[choice] ?? choice).join('或'),
  required: (kind, force) => `合同${STATES[force]}${KINDS[kind]}`,
  complies: (kind, text, converted, { text: wanted, force }) =>
    `${KINDS[kind]}为${text}${converted ?? ''}；政策${ASKS[force]}：${wanted}，符合${ASKS[force]}。`,
  deviates: (kind, problem, text, converted, { text: wanted, force }) =>
    `${KINDS[kind]}为${text}${converted ?? ''}，${deviation(problem, force)}；政策${ASKS[force]}：${wanted}。`,
  missing: (kind, { text, force }) => `未找到${KINDS[kind]}条款；政策${ASKS[force]}：${text}。`,
  converted: (measured, factor, measure) =>
    `（×${factor}，即${measured}${measure === 'percent_per_year' ? '，按单利折算' : ''}）`,
  notes: (clause) => clause.notes.map((note) => NOTES[note]).join(''),
  unusable,
};
