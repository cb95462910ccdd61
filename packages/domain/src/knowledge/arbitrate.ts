import type { KnowledgeLayer, SourceType } from '@cleanslate/contracts';
import { HALF_LIFE_MS } from './trust.ts';

/** One side of a conflict. Times in milliseconds. */
export type Contender = {
  readonly trust: SourceType;
  readonly sourceRef: string;
  readonly layer: KnowledgeLayer;
  readonly weight: number;
  readonly sourceTime: number;
  /** Null if no validator judged it: counts as 1. */
  readonly validatorScore: number | null;
};

export type Ruling = {
  readonly ruling: 'update' | 'dispute' | 'reject';
  readonly reason: string;
  readonly incumbentScore: number | null;
  readonly challengerScore: number | null;
};

/** A smaller lead is not decided by arithmetic. */
export const DECISIVE_LEAD = 0.15;

/** 0.5 · weight + 0.3 · 2^(−age / half-life) + 0.2 · validator score. */
export function arbitrationScore(contender: Contender, now: number): number {
  const age = Math.max(0, now - contender.sourceTime);
  const freshness = 2 ** (-age / HALF_LIFE_MS[contender.layer]);
  return 0.5 * contender.weight + 0.3 * freshness + 0.2 * (contender.validatorScore ?? 1);
}

/**
 * Decides between two different statements of one fact. A person outranks all others; a later statement of the same
 * source, or one with an effective date, is an update; otherwise the scores decide, and a small lead makes a dispute.
 */
export function arbitrate(incumbent: Contender, challenger: Contender, dated: boolean, now: number): Ruling {
  const ruled = (ruling: Ruling['ruling'], reason: string): Ruling => ({
    ruling,
    reason,
    incumbentScore: null,
    challengerScore: null,
  });
  if (challenger.trust === 'human_confirmed') return ruled('update', 'a person said so');
  const lower = incumbent.trust === 'human_confirmed';
  if (lower) return ruled('dispute', 'a person confirmed the incumbent');
  if (challenger.sourceRef === incumbent.sourceRef) return ruled('update', 'later statement of the same source');
  if (dated) return ruled('update', 'brings its effective date');
  const incumbentScore = arbitrationScore(incumbent, now);
  const challengerScore = arbitrationScore(challenger, now);
  const lead = challengerScore - incumbentScore;
  const scores = { incumbentScore, challengerScore };
  if (lead >= DECISIVE_LEAD) return { ruling: 'update', reason: 'challenger leads', ...scores };
  if (lead <= -DECISIVE_LEAD) return { ruling: 'reject', reason: 'incumbent leads', ...scores };
  return { ruling: 'dispute', reason: `lead ${lead.toFixed(3)} is below ${DECISIVE_LEAD}`, ...scores };
}
