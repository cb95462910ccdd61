import {
  type Aggregate,
  accept,
  type Decided,
  decide,
  defineWorkflow,
  type LedgerInput,
  toTransition,
} from '@cleanslate/domain';
import {
  type Changes,
  keyOf,
  loadForUpdate,
  PlanCache,
  StateCache,
  type StoredAggregate,
  saveChanges,
  type Tx,
  takeTaskSeqs,
  upsertPlan,
} from '@cleanslate/store';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// The scheduler goes on with the state that it committed, as long as no row of the task was written by another. It must
// be exactly what the ledger would have told.

const EPOCH = 1;
const OPTIONS = { leaseMs: 30_000, admissionLookMs: 10_000, ringCheckMs: 30_000, maxRings: 20, silentClaims: 3 };
const { plan, planHash } = defineWorkflow({
  name: 'two-steps',
  input: z.strictObject({}),
  steps: {
    a: { role: 'analyzer', executor: 'test/a', after: [], input: {} },
    b: { role: 'analyzer', executor: 'test/b', after: ['a'], input: {} },
  },
  result: 'steps.b.output',
});

let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger[Symbol.asyncDispose]());

function toChanges(before: StoredAggregate | null, taskSeq: number, decided: Decided, at: number): Changes {
  const { tenantId } = decided.state.task;
  return {
    aggregates: decided.changes.length === 0 ? [] : [{ before, after: { taskSeq, state: decided.state } }],
    transitions: decided.changes.flatMap((change) => {
      const transition = toTransition(change);
      return transition === null ? [] : [{ ...transition, taskSeq, tenantId, at }];
    }),
    events: [],
    refusals: [],
  };
}

/** A step that nobody edited has no edit, or none: the machine makes no difference. */
function plain({ stored }: { readonly stored: StoredAggregate }) {
  const { state } = stored;
  return { ...state, steps: state.steps.map((step) => ({ ...step, inputEdit: step.inputEdit ?? null })) };
}

let tasks = 0;

/** One task, and what a scheduler with a cache of its own does to it. */
async function startStory() {
  const cache = new StateCache();
  const plans = new PlanCache();
  const key = { tenantId: 'acme', taskId: `task-${++tasks}` };
  plans.add(planHash, plan);
  const load = (tx: Tx, with_ = true) =>
    loadForUpdate(tx, EPOCH, [key], plans, with_ ? { cache } : {}).then(({ now, aggregates }) => {
      const stored = aggregates.get(keyOf(key));
      if (stored === undefined) throw new Error('the task is gone');
      return { now, stored };
    });
  const begun = await ledger.commit(async (tx) => {
    await upsertPlan(tx, planHash, plan.workflow, plan);
    const now = Date.now();
    const pin = { validAt: new Date(now).toISOString(), revision: 0 };
    const submission = { ...key, submitId: 's', bodyHash: 'h', planHash, plan, pin, traceparent: null };
    const decided = accept(EPOCH, { ...submission, submit: { workflow: plan.workflow, input: {} } }, now, OPTIONS);
    const [taskSeq = 0] = await takeTaskSeqs(tx, 1);
    const changes = toChanges(null, taskSeq, decided, now);
    return { changes, saved: await saveChanges(tx, changes) };
  });
  cache.learn(begun.changes.aggregates, begun.saved.xid);
  return {
    cache,
    key,
    load,
    apply: async (inputs: readonly LedgerInput[]) => {
      const { changes, saved } = await ledger.commit(async (tx) => {
        const { now, stored } = await load(tx);
        const all = inputs.reduce<Decided>(
          (so, input) => {
            const { state, changes } = decide(so.state, input, now, OPTIONS);
            return { state, changes: [...so.changes, ...changes] };
          },
          { state: stored.state, changes: [] },
        );
        const made = toChanges(stored, stored.taskSeq, all, now);
        return { changes: made, saved: await saveChanges(tx, made) };
      });
      cache.learn(changes.aggregates, saved.xid);
    },
    /** What the cache gives, and what the ledger says. */
    both: () => ledger.commit(async (tx) => ({ kept: await load(tx), read: await load(tx, false) })),
  };
}

const fence = (taskId: string, stepId: string, attempt: number) => {
  return { epoch: EPOCH, tenantId: 'acme', taskId, stepId, attempt, claimId: `w:${stepId}${attempt}` };
};

function toInputs(taskId: string, kind: string, stepId: string, attempt: number): readonly LedgerInput[] {
  const claim: LedgerInput = { kind: 'claim', fence: fence(taskId, stepId, attempt), worker: 'w' };
  const report = (outcome: 'succeeded' | 'failed'): LedgerInput => ({
    kind: 'report',
    fence: fence(taskId, stepId, attempt),
    report:
      outcome === 'succeeded'
        ? { outcome, output: { text: `"\\ü ${stepId}`, n: attempt }, usage: { durationMs: 1.5 }, candidates: ['c-1'] }
        : { outcome, error: { code: 'EXECUTOR_FAILED', disposition: 'retryable', message: 'no' } },
  });
  switch (kind) {
    case 'dispatch':
      return [{ kind: 'dispatch', stepId }];
    case 'claim':
      return [claim];
    case 'succeed':
      return [report('succeeded')];
    case 'fail':
      return [report('failed')];
    case 'claim and succeed':
      return [claim, report('succeeded')];
    case 'claim and fail':
      return [claim, report('failed')];
    case 'back':
      return [{ kind: 'backoff_due', stepId }];
    case 'cancel':
      return [{ kind: 'cancel', reason: 'enough' }];
    default:
      return [{ kind: 'retry', letter: null }];
  }
}

const KINDS = [
  'dispatch',
  'claim',
  'succeed',
  'fail',
  'claim and succeed',
  'claim and fail',
  'back',
  'cancel',
  'retry',
];

test('after any inputs, alone or several in one commit, the state kept is the state that would be read', async () => {
  const input = fc.record({
    kind: fc.constantFrom(...KINDS),
    stepId: fc.constantFrom('a', 'b'),
    attempt: fc.constantFrom(1, 2),
  });
  let used = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(input, { minLength: 1, maxLength: 3 }), { maxLength: 10 }), async (commits) => {
      const story = await startStory();
      for (const inputs of [[{ kind: 'dispatch', stepId: 'a', attempt: 1 }], ...commits]) {
        await story.apply(
          inputs.flatMap(({ kind, stepId, attempt }) => toInputs(story.key.taskId, kind, stepId, attempt)),
        );
        const { kept, read } = await story.both();
        expect(plain(kept)).toEqual(plain(read));
        if (story.cache.find(kept.stored.taskSeq, kept.stored.version ?? '') === kept.stored.state) used++;
      }
    }),
    { numRuns: 25 },
  );
  // Ended tasks are not kept; most others are, or the cache is for nothing.
  expect(used).toBeGreaterThan(25);
});

test('a row that another wrote is read again: a lease that was extended, a doorbell that was stored', async () => {
  const story = await startStory();
  await story.apply(toInputs(story.key.taskId, 'dispatch', 'a', 1));
  for (const set of [`due_at = due_at + interval '1 minute'`, 'doorbell_seq = 17', 'beaten = true']) {
    const before = await story.both();
    expect(story.cache.find(before.kept.stored.taskSeq, before.kept.stored.version ?? '')).toBeDefined();
    await ledger.sql(`UPDATE ledger.steps SET ${set} WHERE step_id = 'a' AND task_seq = ${before.kept.stored.taskSeq}`);
    const { kept, read } = await story.both();
    expect(plain(kept)).toEqual(plain(read));
    expect(plain(kept)).not.toEqual(plain(before.kept));
  }
});

test('a task that was deleted and taken in anew under the same id is the new one', async () => {
  const story = await startStory();
  const old = (await story.both()).kept.stored.taskSeq;
  await ledger.sql(`DELETE FROM ledger.tasks WHERE task_seq = ${old}`);
  tasks--;
  const anew = await startStory();
  const { kept } = await story.both();
  expect(anew.key).toEqual(story.key);
  expect(kept.stored.taskSeq).toBeGreaterThan(old);
});

test('after an outage nothing is kept: the server may give out the numbers of lost transactions again', async () => {
  const story = await startStory();
  const { kept } = await story.both();
  const { taskSeq, version = '' } = kept.stored;
  expect(story.cache.find(taskSeq, version)).toBeDefined();
  story.cache.clear();
  expect(story.cache.find(taskSeq, version)).toBeUndefined();
  expect(story.cache.findSeq(keyOf(story.key))).toBeUndefined();
});

test('of a transaction that was rolled back nothing is kept', async () => {
  const story = await startStory();
  const before = await story.both();
  await expect(
    ledger.commit(async (tx) => {
      const { now, stored } = await story.load(tx);
      const decided = decide(stored.state, { kind: 'cancel', reason: 'x' }, now, OPTIONS);
      await saveChanges(tx, toChanges(stored, stored.taskSeq, decided, now));
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect((await story.both()).kept.stored.state).toBe(before.kept.stored.state);
});

test('a time that is no number is refused: written as JSON it would be none', async () => {
  const story = await startStory();
  const saved = ledger.commit(async (tx) => {
    const { now, stored } = await story.load(tx);
    const { state, changes } = decide(stored.state, { kind: 'dispatch', stepId: 'a' }, now, OPTIONS);
    const steps = state.steps.map((step) => ({ ...step, dueAt: Number.NaN }));
    await saveChanges(tx, toChanges(stored, stored.taskSeq, { state: { ...state, steps }, changes }, now));
  });
  await expect(saved).rejects.toThrow('a time to be stored is NaN');
});

function toState(taskSeq: number, state: Aggregate['task']['state'], text = ''): Aggregate {
  const pin = { validAt: new Date(0).toISOString(), revision: 0 };
  const submission = { tenantId: 'acme', taskId: `kept-${taskSeq}`, submitId: 's', bodyHash: 'h', planHash, plan, pin };
  const submit = { workflow: plan.workflow, input: { text } };
  const accepted = accept(EPOCH, { ...submission, submit, traceparent: null }, 0, OPTIONS).state;
  return { ...accepted, task: { ...accepted.task, state } };
}

function fill(cache: StateCache, from: number, count: number, state: Aggregate['task']['state']): number[] {
  const seqs = Array.from({ length: count }, (_, i) => from + i);
  for (const seq of seqs) cache.keep(seq, toState(seq, state), 'v');
  return seqs;
}

test('tasks that wait for their first turn are kept as long as there is room, and never push out one that was begun', () => {
  const cache = new StateCache();
  const begun = fill(cache, 1, 600, 'executing');
  const waiting = fill(cache, 601, 600, 'pending');
  expect(begun.every((seq) => cache.find(seq, 'v') !== undefined)).toBe(true);
  // First come: they start first.
  expect(waiting.filter((seq) => cache.find(seq, 'v') !== undefined)).toEqual(waiting.slice(0, 400));
  const late = fill(cache, 1_201, 600, 'executing');
  expect([...begun, ...late].every((seq) => cache.find(seq, 'v') !== undefined)).toBe(true);
});

test('what ended, and what is large, is kept no longer', () => {
  const cache = new StateCache();
  fill(cache, 1, 3, 'executing');
  cache.keep(1, toState(1, 'completed'), 'v');
  cache.keep(2, toState(2, 'failed'), 'v');
  cache.keep(3, toState(3, 'executing', 'x'.repeat(16_001)), 'v');
  expect([1, 2, 3].map((seq) => cache.find(seq, 'v'))).toEqual([undefined, undefined, undefined]);
  expect([1, 2, 3].map((seq) => cache.findSeq(`acme/kept-${seq}`))).toEqual([undefined, undefined, undefined]);
});

test('beyond its bound the one that has been kept longest goes', () => {
  const cache = new StateCache();
  fill(cache, 1, 2_001, 'awaiting_validation');
  expect(cache.find(1, 'v')).toBeUndefined();
  expect(cache.find(2, 'v')).toBeDefined();
  expect(cache.find(2_001, 'v')).toBeDefined();
});
