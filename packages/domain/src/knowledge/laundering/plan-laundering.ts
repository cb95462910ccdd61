import type { LaunderAction, LaunderProposal } from '@cleanslate/contracts';
import { type FadingVersion, hasFaded, importanceNow } from './fading.ts';
import { judgeContradictions, judgeDuplicates, refOf, type TwinVersion } from './twins.ts';

export type ExpiredFact = { readonly knowledgeId: string; readonly version: number; readonly endedAt: number };
export type UncitedFact = { readonly knowledgeId: string; readonly version: number; readonly reads: number };

/** What laundering looks at. */
export type LaunderFindings = {
  /** Versions with one signature that belong to several facts. */
  readonly duplicates: readonly (readonly TwinVersion[])[];
  /** Versions with one key that belong to several facts. */
  readonly contradictions: readonly (readonly TwinVersion[])[];
  /** `knowledgeId signature` of every challenger that was ever in dispute with a fact, whatever became of it. */
  readonly disputedBefore: ReadonlySet<string>;
  /** All believed versions of facts that may have faded, by fact. */
  readonly fading: readonly (readonly FadingVersion[])[];
  /** Facts with an open dispute: somebody is about to decide. */
  readonly disputed: ReadonlySet<string>;
  readonly expired: readonly ExpiredFact[];
  readonly uncited: readonly UncitedFact[];
};
export type LaunderPlan = {
  readonly actions: readonly LaunderAction[];
  readonly proposals: readonly LaunderProposal[];
};

/**
 * What a run does and proposes: merges first, then disputes among what is left, then archiving. Each action removes its
 * own reason, so that planning again after some of them gives the rest of this plan.
 */
export function planLaundering(findings: LaunderFindings, now: number): LaunderPlan {
  const merges = findings.duplicates.map(judgeDuplicates);
  const gone = new Set(merges.flatMap(({ actions }) => actions.map(({ fact }) => fact)));
  const left = (version: TwinVersion) => !gone.has(refOf(version));
  const settled = (incumbent: TwinVersion, challenger: TwinVersion) =>
    findings.disputedBefore.has(`${incumbent.knowledgeId} ${challenger.signature}`);
  const questions = findings.contradictions.map((group) => judgeContradictions(group.filter(left), settled));
  const disputed = new Set(questions.flatMap(({ actions }) => actions.map(({ fact }) => idOf(fact))));
  const archives = findings.fading
    .map((versions) => versions.filter((version) => !gone.has(refOf(version))))
    .filter(([first]) => first !== undefined && !isDisputed(first.knowledgeId))
    .filter((versions) => versions.every((version) => hasFaded(version, now)))
    .flatMap((versions) => versions.map((version) => toArchive(version, now)));
  function isDisputed(knowledgeId: string): boolean {
    return disputed.has(knowledgeId) || findings.disputed.has(knowledgeId);
  }
  return {
    actions: [...merges, ...questions].flatMap(({ actions }) => actions).concat(archives),
    proposals: [
      ...[...merges, ...questions].flatMap(({ proposals }) => proposals),
      ...findings.expired.map(toExpired),
      ...findings.uncited.map(toUncited),
    ],
  };
}

function idOf(ref: string): string {
  return ref.slice(0, ref.lastIndexOf('@'));
}

function toArchive(version: FadingVersion, now: number): LaunderAction {
  const { importance, layer, writtenAt, lastUsedAt } = version;
  return {
    action: 'archive',
    fact: refOf(version),
    importance: Number(importanceNow(importance, layer, writtenAt, now).toFixed(4)),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}

function toExpired(fact: ExpiredFact): LaunderProposal {
  const detail = `its last period ended at ${new Date(fact.endedAt).toISOString()}`;
  return { proposal: 'expired', fact: refOf(fact), other: null, detail };
}

function toUncited(fact: UncitedFact): LaunderProposal {
  const detail = `read ${fact.reads} times in 90 days, and no answer rests on it`;
  return { proposal: 'never_cited', fact: refOf(fact), other: null, detail };
}
