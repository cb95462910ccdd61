import type { QuestionLanguage } from '@cleanslate/domain';
import type { Answer, ComparedAnswer, Dispute, Missing, Provider } from './schemas.ts';

type Period = NonNullable<Missing['period']>;

/** The text around the quotes for a reader of one language. */
export type Words = {
  readonly outcome: Readonly<Record<Answer['outcome'], string>>;
  readonly evidence: string;
  readonly missing: string;
  readonly disputes: string;
  /** Of what was asked, in the period asked about. */
  readonly unchanged: (period: Missing['period']) => string;
  readonly verdict: Readonly<Record<'yes' | 'no', string>>;
  readonly held: (period: Period) => string;
  readonly why: (missing: Missing) => string;
  readonly compared: (compared: ComparedAnswer) => string;
  readonly ruled: (dispute: Dispute) => string;
  readonly source: (sourceRef: string) => string;
  readonly unreachable: (source: string, code: string) => string;
  readonly provider: (provider: Provider) => string;
};

const day = (iso: string) => iso.slice(0, 10);
const measured = (value: string, unit: string) => (unit === '' ? value : `${value} ${unit.replaceAll('_', ' ')}`);

/** When it was, between what belongs around it; nothing at all where no time is meant. */
function wrapped(period: Missing['period'], { held }: Pick<Words, 'held'>, before: string, after: string): string {
  const when = period === null ? '' : held(period);
  return when === '' ? '' : `${before}${when}${after}`;
}

const EN: Words = {
  outcome: { answered: 'Answer', partly_answered: 'A part of the answer', not_known: 'Not known' },
  evidence: 'What it rests on',
  missing: 'What is not known',
  disputes: 'Where sources disagree',
  unchanged: (period) => `No change of it is on record${wrapped(period, EN, ' ', '')}.`,
  verdict: { yes: 'Yes', no: 'No' },
  held: ({ from, until }) => {
    if (from === null) return until === null ? '' : `until ${day(until)}`;
    return until === null ? `since ${day(from)}` : `from ${day(from)} until ${day(until)}`;
  },
  why: ({ why, question, period }) => {
    const asked = `“${question}”`;
    const when = wrapped(period, EN, ' ', '');
    return {
      no_evidence: `${asked}: the knowledge base holds nothing that answers it${when}.`,
      needs_unknown: `${asked}: it needs an answer that is not known.`,
      period_not_covered: `${asked}: nothing is on record${when}.`,
      not_comparable: `${asked}: the two values are in units that can't be compared.`,
      disputed: `${asked}: sources disagree, and no rule decides between them.`,
    }[why];
  },
  compared: ({ left, right, relation, difference, unit }) => {
    const [a, b] = [measured(left.value, left.unit), measured(right.value, right.unit)];
    if (relation === 'equal') return `Both are the same: ${a} and ${b}.`;
    return `The first is ${relation} than the second: ${a} against ${b}, a difference of ${measured(difference, unit)}.`;
  },
  ruled: ({ ruling, reason }) => `${ruling}: ${reason}`,
  source: (sourceRef) => `source ${sourceRef}`,
  unreachable: (source, code) => `The source ${source} could not be asked (${code}).`,
  provider: ({ kind, model }) =>
    kind === 'offline'
      ? 'Answered by rules from quoted facts, without a model.'
      : `Chosen by the model ${model}, checked by rules.`,
};

const ZH: Words = {
  outcome: { answered: '回答', partly_answered: '部分回答', not_known: '未知' },
  evidence: '依据',
  missing: '尚不知道的',
  disputes: '来源不一致之处',
  unchanged: (period) => `没有变化的记录${wrapped(period, ZH, '（', '）')}。`,
  verdict: { yes: '是', no: '否' },
  held: ({ from, until }) => {
    if (from === null) return until === null ? '' : `${day(until)}之前`;
    return until === null ? `自${day(from)}起` : `${day(from)}至${day(until)}之前`;
  },
  why: ({ why, question, period }) => {
    const asked = `“${question}”`;
    const when = wrapped(period, ZH, '（', '）');
    return {
      no_evidence: `${asked}：知识库中没有能回答的内容${when}。`,
      needs_unknown: `${asked}：所依赖的答案未知。`,
      period_not_covered: `${asked}：这一期间没有记录${when}。`,
      not_comparable: `${asked}：两个数值的单位无法比较。`,
      disputed: `${asked}：来源不一致，规则无法裁定。`,
    }[why];
  },
  compared: ({ left, right, relation, difference, unit }) => {
    const [a, b] = [measured(left.value, left.unit), measured(right.value, right.unit)];
    if (relation === 'equal') return `两者相同：${a}与${b}。`;
    return `前者${relation === 'greater' ? '大于' : '小于'}后者：${a}与${b}，相差${measured(difference, unit)}。`;
  },
  ruled: ({ ruling, lead }) => {
    const ruled = ruling === 'decided' ? '已裁定' : '未裁定';
    return lead === null ? ruled : `${ruled}：分差${lead.toFixed(3)}`;
  },
  source: (sourceRef) => `来源 ${sourceRef}`,
  unreachable: (source, code) => `来源 ${source} 无法查询（${code}）。`,
  provider: ({ kind, model }) =>
    kind === 'offline' ? '由规则从引用的事实得出，未使用模型。' : `由模型 ${model} 选取，经规则核对。`,
};

export function wordsIn(language: QuestionLanguage): Words {
  return language === 'zh' ? ZH : EN;
}
