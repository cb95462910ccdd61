import type { AccessLevel } from '@cleanslate/contracts';
import type { Interval } from './interval.ts';

export const QUESTION_KINDS = ['lookup', 'comparison', 'time_range', 'multi_hop'] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** How evidence is searched for: by words, or by similarity of vectors as well. */
export const SEARCH_CHANNELS = ['words', 'vectors'] as const;
export type SearchChannel = (typeof SEARCH_CHANNELS)[number];

/** A question that one search can answer. */
export type SubGoal = {
  /** `g1`, `g2`… */
  readonly id: string;
  /** Without its times. `{g1}` stands for what sub-goal g1 finds. */
  readonly question: string;
  readonly kind: QuestionKind;
  /** The time it asks about; null: the task's pin. */
  readonly period: Interval | null;
  /** Asks for every version in the period, not just the one in force. */
  readonly timeline: boolean;
  /** Sub-goals before it whose results it waits for. */
  readonly needs: readonly string[];
  readonly channels: readonly SearchChannel[];
  /** The highest level of knowledge it may read. */
  readonly accessLevel: AccessLevel;
};

export const QUESTION_LANGUAGES = ['en', 'zh'] as const;
export type QuestionLanguage = (typeof QUESTION_LANGUAGES)[number];

/** The sub-goals that a question was taken apart into. */
export type QuestionPlan = {
  readonly language: QuestionLanguage;
  readonly kind: QuestionKind;
  /** 0…1; below 0.7 both channels are searched. */
  readonly confidence: number;
  readonly subGoals: readonly SubGoal[];
};

export const SURE = 0.7;
/** More would be a questionnaire, not a question. */
export const MAX_SUB_GOALS = 8;

/** The sub-goals whose results a question names. */
export function findNamedGoals(question: string): readonly string[] {
  return [...question.matchAll(/\{(g[1-9]\d?)\}/g)].map(([, id = '']) => id);
}
