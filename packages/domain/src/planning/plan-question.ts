import type { AccessLevel } from '@cleanslate/contracts';
import { type FoundPeriod, findPeriods, joinListed, withoutPeriods } from './find-periods.ts';
import type { Interval } from './interval.ts';
import { orderSubGoals } from './order-sub-goals.ts';
import { type QuestionShape, readShape } from './question-shape.ts';
import { type QuestionLanguage, type QuestionPlan, SEARCH_CHANNELS, SURE, type SubGoal } from './sub-goal.ts';
import { EN_TEMPLATES } from './templates-en.ts';
import { ZH_TEMPLATES } from './templates-zh.ts';

export type QuestionContext = {
  /** The moment that "in March" and "last year" are relative to. UTC. */
  readonly validAt: string;
  /** The highest level that the sub-goals may read. */
  readonly accessLevel: AccessLevel;
};

/** How sure a template is: it read the form of the question, not its meaning. */
const BY_TEMPLATE = 0.85;
const BY_FORM = 0.75;
const UNSURE = 0.5;

/** A question is Chinese if a third of its letters are. */
export function languageOf(question: string): QuestionLanguage {
  const han = [...question.matchAll(/\p{Script=Han}/gu)].length;
  const latin = [...question.matchAll(/[a-z]+/gi)].length;
  return han > latin ? 'zh' : 'en';
}

/**
 * The plan that the templates give; null if none covers the question, and a model may be asked. Throws `PLAN_INVALID`
 * for more times than sub-goals.
 */
export function planQuestion(question: string, context: QuestionContext): QuestionPlan | null {
  const { language, periods, text, unlisted } = readTimes(question, context);
  const templates = language === 'zh' ? ZH_TEMPLATES : EN_TEMPLATES;
  const byJoint = readShape(templates, text);
  // For a comparison the word that joins its times matters; for what is asked at each of them it means nothing.
  const shape = byJoint?.shape === 'comparison_over_time' ? byJoint : readShape(templates, unlisted);
  return shape === null || isUnclear(shape, periods, text !== unlisted)
    ? null
    : toPlan(shape, language, periods, context);
}

/** Its form doesn't show which of several times belongs to which part. `listed`: they are in one list. */
function isUnclear({ shape }: QuestionShape, periods: readonly FoundPeriod[], listed: boolean): boolean {
  const { length } = distinct(periods.map(({ period }) => period));
  return (shape === 'multi_hop' && length > 1) || (shape === 'comparison' && (length > 2 || (length === 2 && listed)));
}

/**
 * The fallback if no template covers the question and there is no model: the whole question, searched by both channels,
 * at each time it names. Throws what `planQuestion` throws.
 */
export function planWhole(question: string, context: QuestionContext): QuestionPlan {
  const { language, periods, unlisted } = readTimes(question, context);
  // Nothing but times and punctuation: searched as it is.
  const plan = toPlan({ shape: 'lookup', topic: unlisted === '' ? question : unlisted }, language, periods, context);
  return withConfidence(plan, UNSURE);
}

/**
 * Below 0.7 every sub-goal is searched by both channels: what is not surely understood should at least not be missed.
 */
export function withConfidence(plan: QuestionPlan, confidence: number): QuestionPlan {
  const subGoals = plan.subGoals.map((goal) => ({
    ...goal,
    channels: confidence < SURE ? [...SEARCH_CHANNELS] : goal.channels,
  }));
  return { ...plan, confidence, subGoals };
}

function readTimes(question: string, { validAt }: QuestionContext) {
  const periods = findPeriods(question, validAt);
  const listed = joinListed(question, periods);
  const text = toBare(withoutPeriods(question, periods));
  const unlisted = toBare(withoutPeriods(question, listed));
  return {
    language: languageOf(question),
    periods,
    text,
    unlisted: listed.length === periods.length ? text : unlisted.replace(/,?\s?\brespectively\b|分别/i, ''),
  };
}

function toBare(text: string): string {
  return text.replace(/[\s?？。.!！]+$/, '').replace(/^(?:please|请问|请)[\s,，]*/i, '');
}

function toPlan(
  shape: QuestionShape,
  language: QuestionLanguage,
  periods: readonly FoundPeriod[],
  { accessLevel }: QuestionContext,
): QuestionPlan {
  const times = distinct(periods.map(({ period }) => period));
  const [first = null, second = null] = times;
  const goal = (id: string, question: string, more: Partial<SubGoal> = {}): SubGoal => ({
    id,
    question,
    kind: 'lookup',
    period: first,
    timeline: false,
    needs: [],
    channels: ['words'],
    accessLevel,
    ...more,
  });
  const plan = (kind: QuestionPlan['kind'], confidence: number, goals: readonly SubGoal[]): QuestionPlan => ({
    language,
    kind,
    confidence,
    subGoals: orderSubGoals(goals.map((each) => ({ ...each, kind }))),
  });
  /** One sub-goal for each time. */
  const atEach = (topic: string, all: readonly (Interval | null)[], timeline = false) =>
    all.map((period, index) => goal(`g${index + 1}`, topic, { period, timeline }));
  switch (shape.shape) {
    case 'comparison': {
      const [a, b] = shape.topics;
      return plan('comparison', BY_TEMPLATE, [goal('g1', a), goal('g2', b, { period: second ?? first })]);
    }
    case 'comparison_over_time': {
      if (first === null) return plan('lookup', UNSURE, [goal('g1', shape.topic)]);
      return plan('comparison', BY_TEMPLATE, atEach(shape.topic, times.length > 1 ? times : [first, null]));
    }
    case 'multi_hop':
      return plan('multi_hop', BY_TEMPLATE, [goal('g1', shape.first), goal('g2', shape.second)]);
    case 'change': {
      const whole = times.length > 0 ? times : [{ from: null, until: null }];
      return plan('time_range', BY_TEMPLATE, atEach(shape.topic, whole, true));
    }
    case 'lookup':
      if (first === null) return plan('lookup', BY_FORM, [goal('g1', shape.topic)]);
      return plan('time_range', BY_FORM, atEach(shape.topic, times));
  }
}

function distinct(periods: readonly Interval[]): readonly Interval[] {
  return [...new Map(periods.map((period) => [`${period.from}/${period.until}`, period])).values()];
}
