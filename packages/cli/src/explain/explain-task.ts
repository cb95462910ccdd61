import type { Client } from '@cleanslate/client';
import {
  type CandidateView,
  type DeadLetterSummary,
  type FactView,
  isAppError,
  type StepDetail,
  type TaskStory,
  type TaskView,
  type ValueOf,
} from '@cleanslate/contracts';
import { type FoundDispute, findDisputes } from './find-disputes.ts';
import { findEvidence, type Passage } from './find-evidence.ts';
import { type FoundModel, findModel } from './find-model.ts';
import { type Why, whyOf } from './why.ts';

/** A fact version that the result names, read again; `found` false: this tenant has no such version. */
export type CitedFact = {
  readonly ref: string;
  readonly found: boolean;
  readonly statement: string | null;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly sourceType: FactView['sourceType'] | null;
  readonly sourceRef: string | null;
  /** The revision since which it has been believed. */
  readonly revisionFrom: number | null;
  /** It held at the task's pin. */
  readonly heldAtPin: boolean;
  /** It is still believed: null revisionUntil. Otherwise the revision at which it was replaced or retracted. */
  readonly revisionUntil: number | null;
};

export type Explanation = {
  readonly task: Omit<TaskView, 'steps' | 'result' | 'input'>;
  readonly why: Why;
  readonly steps: readonly Omit<StepDetail, 'output'>[];
  readonly evidence: { readonly passages: readonly Passage[]; readonly facts: readonly CitedFact[] };
  /** Where its sources disagree, with all sides and the outcome. */
  readonly disputes: readonly FoundDispute[];
  /** What a model added, and what of its answer was dropped; null if no model took part. */
  readonly model: FoundModel | null;
  readonly learned: readonly CandidateView[];
  readonly letters: readonly DeadLetterSummary[];
  readonly refusals: ValueOf<typeof TaskStory>['refusals'];
  readonly repairs: ValueOf<typeof TaskStory>['repairs'];
};

/** Everything that is on record about why a task ended as it did. Throws `NOT_FOUND`. */
export async function explainTask(client: Client, taskId: string): Promise<Explanation> {
  const [view, { steps }, story, { candidates }, { letters }] = await Promise.all([
    client.task(taskId),
    client.steps(taskId),
    client.story(taskId),
    client.facts.candidates({ taskId, limit: 200 }),
    client.deadLetters.list({ taskId, limit: 100 }),
  ]);
  const { steps: _, result, input: __, ...task } = view;
  const { passages, factRefs } = findEvidence(result);
  const facts = await findCited(client, factRefs, view.pin);
  return {
    task,
    evidence: { passages, facts },
    disputes: findDisputes(result),
    model: findModel(result),
    learned: candidates,
    letters,
    why: whyOf(view, steps, letters),
    steps: steps.map(({ output: _output, ...step }) => step),
    refusals: story.refusals,
    repairs: story.repairs,
  };
}

async function findCited(client: Client, refs: readonly string[], pin: TaskView['pin']): Promise<CitedFact[]> {
  const histories = new Map<string, Promise<readonly FactView[]>>();
  const historyOf = (knowledgeId: string) => {
    const known = histories.get(knowledgeId) ?? readHistory(client, knowledgeId);
    histories.set(knowledgeId, known);
    return known;
  };
  return await Promise.all(
    refs.map(async (ref) => {
      const at = ref.lastIndexOf('@');
      const versions = await historyOf(ref.slice(0, at));
      return toCited(
        ref,
        versions.find((each) => each.version === Number(ref.slice(at + 1))),
        pin,
      );
    }),
  );
}

async function readHistory(client: Client, knowledgeId: string): Promise<readonly FactView[]> {
  try {
    return (await client.facts.history(knowledgeId)).versions;
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return [];
    throw error;
  }
}

function toCited(ref: string, fact: FactView | undefined, pin: TaskView['pin']): CitedFact {
  const { statement = null, validFrom = null, validUntil = null, sourceType = null, sourceRef = null } = fact ?? {};
  const at = Date.parse(pin.validAt);
  const heldAtPin =
    fact !== undefined &&
    fact.revisionFrom <= pin.revision &&
    (fact.revisionUntil === null || pin.revision < fact.revisionUntil) &&
    (fact.validFrom === null || Date.parse(fact.validFrom) <= at) &&
    (fact.validUntil === null || at < Date.parse(fact.validUntil));
  return {
    ref,
    found: fact !== undefined,
    statement,
    validFrom,
    validUntil,
    sourceType,
    sourceRef,
    heldAtPin,
    revisionFrom: fact?.revisionFrom ?? null,
    revisionUntil: fact?.revisionUntil ?? null,
  };
}
