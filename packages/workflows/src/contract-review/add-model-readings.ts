import type { ClauseKind } from './clause.ts';
import { type ModelQuestion, readItem, toGround, toQuestion } from './model-reading.ts';
import { type PolicyFact, readPolicies } from './policy.ts';
import { toCitedPolicy } from './review.ts';
import type { Analysis, ModelPart, ModelReading, ModelRefusal } from './schemas.ts';

export type ModelWord =
  /** Its items, as they came; nothing in them is believed. */
  | { readonly model: string; readonly items: readonly unknown[] }
  /** It gave no answer: the error's code. */
  | { readonly model: string; readonly error: string };

export type { ModelQuestion };

export interface ModelReview {
  readonly question: ModelQuestion;
  /** The analysis with what the model adds. What the rules say stays, word for word. */
  readonly add: (word: ModelWord) => Analysis;
}

/** What a model can still be asked about a contract that the rules have read, and what happens to its answer. */
export function reviewWithModel(text: string, facts: readonly PolicyFact[], analysis: Analysis): ModelReview {
  const { rules } = readPolicies(facts);
  const ground = toGround(text, rules, analysis.clauses, analysis.language);
  const question = toQuestion(ground);
  return {
    question,
    add: (word) => {
      const base = { name: word.model, unread: question.unread };
      if ('error' in word) {
        return { ...analysis, model: { ...base, outcome: 'failed', error: word.error, readings: [], dropped: [] } };
      }
      const { readings, dropped } = sift(word.items.map((item) => readItem(ground, item)));
      const cited = new Map(analysis.policies.map((policy) => [policy.policy, policy]));
      for (const rule of rules)
        if (readings.some(({ policy }) => policy === rule.policy)) cited.set(rule.policy, toCitedPolicy(rule));
      const outcome = question.passages.length === 0 ? 'not_needed' : 'asked';
      const model: ModelPart = { ...base, outcome, error: null, readings, dropped };
      return { ...analysis, policies: [...cited.values()], model };
    },
  };
}

/** One passage for each kind: of two that say the same one is dropped, of two that differ both are. */
function sift(outcomes: readonly ReturnType<typeof readItem>[]) {
  const dropped = new Map<ModelRefusal, number>();
  const drop = (reason: ModelRefusal) => dropped.set(reason, (dropped.get(reason) ?? 0) + 1);
  const kept = new Map<ClauseKind, readonly ModelReading[]>();
  const contradicted = new Set<ClauseKind>();
  for (const outcome of outcomes) {
    if ('refusal' in outcome) {
      drop(outcome.refusal);
      continue;
    }
    const [first] = outcome.readings;
    if (first === undefined) continue;
    const known = kept.get(first.clause);
    if (known === undefined) kept.set(first.clause, outcome.readings);
    else if (JSON.stringify(known) === JSON.stringify(outcome.readings)) drop('repeated');
    else {
      drop('contradictory');
      contradicted.add(first.clause);
    }
  }
  for (const kind of contradicted) {
    kept.delete(kind);
    drop('contradictory');
  }
  return { readings: [...kept.values()].flat(), dropped: [...dropped].map(([reason, count]) => ({ reason, count })) };
}
