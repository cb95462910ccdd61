import { defineWorkflow } from '@cleanslate/domain';
import { waitFor } from '@cleanslate/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { adminOf, countMessages, expectConserved } from '../fixtures/conservation.ts';
import { endBackOff, stepsOf } from '../fixtures/ledger-rows.ts';
import { Script } from '../fixtures/script.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

// A dispatched step is its own doorbell: whatever became of the process that committed it, it is published until
// the broker has said where it hangs or somebody has claimed it, and not after that. Killed between commit and
// publish: scheduler-faults.test.ts.

const SLOTS = 2;

const part = {
  role: 'analyzer',
  executor: 'scripted/work',
  after: [],
  input: { script: 'input.script', feedback: 'feedback' },
};
const PARTS = Array.from({ length: 36 }, (_, i) => `part${i}`);
/** Each output stays below what becomes an object; all of them, as the last step's input, fit no message. */
const TOO_MUCH = defineWorkflow({
  name: 'too-much',
  input: z.strictObject({ script: Script }),
  result: 'steps.all.output',
  steps: {
    ...Object.fromEntries(PARTS.map((name) => [name, part])),
    all: { ...part, after: PARTS, input: Object.fromEntries(PARTS.map((name) => [name, `steps.${name}.output`])) },
  },
});

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    env: { RING_CHECK_MS: '6000' },
    workflows: [TOO_MUCH],
    workerEnv: { SLOTS: String(SLOTS) },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

test('committed while the broker is away: told by the gauge after a while, then published from its step', async () => {
  const { server } = p.platform.broker;
  const taskId = await p.submit('slow-retry', { failFirst: 1 });
  await waitFor('the back-off', async () => (await stepsOf(p.platform, taskId))[0]?.phase === 'backing_off');
  await server.kill();
  await endBackOff(p.platform, taskId);
  await waitFor('attempt 2 seen to be left', async () => (await readGauge('slate_outbox_rows')) === 1);
  expect(await readGauge('slate_outbox_age_seconds')).toBeGreaterThanOrEqual(5);
  expect(await stepsOf(p.platform, taskId)).toMatchObject([{ phase: 'dispatched', attempt: 2, claim_id: null }]);
  await server.restart();
  await waitFor('client and gateway reconnected', async () => (await p.client.task(taskId)).taskId === taskId);
  expect((await p.client.result(taskId)).state).toBe('completed');
  expect(p.deeds(taskId).map(({ what, attempt }) => [what, attempt])).toEqual([
    ['start', 1],
    ['start', 2],
    ['effect', 2],
  ]);
  await waitFor('nothing left', async () => (await readGauge('slate_outbox_rows')) === 0);
  expect(await readGauge('slate_outbox_age_seconds')).toBe(0);
  await expectConserved(p.platform);
});

test('a PubAck that was not noted: the doorbell is published again under its message id, and the broker tells where the first one hangs', async () => {
  const worker = p.platform.service('analyzer');
  await worker.stop();
  const taskId = await p.submit('one-step', {});
  const noted = await sequenceOf(taskId);
  await forgetSequence(taskId);
  expect(await sequenceOf(taskId)).toBe(noted);
  expect(await countMessages(p.platform, 'COMMANDS')).toBe(1);
  await p.startWorker();
  await expectOneRun(taskId);
  await expectConserved(p.platform);
});

test('a doorbell that fits no message ends its step with a letter', async () => {
  const taskId = await p.submit('too-much', { bytes: 250_000 });
  expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'PAYLOAD_TOO_LARGE' } });
  expect(await p.sql('SELECT step_id, attempt, reason FROM ledger.dead_letters')).toEqual([
    { step_id: 'all', attempt: 1, reason: 'PAYLOAD_TOO_LARGE' },
  ]);
  await expectConserved(p.platform);
});

describe('where the broker forgets message ids at once', () => {
  beforeAll(async () => {
    const manager = await jetstreamManager((await adminOf(p.platform)).raw, { timeout: 30_000 });
    await manager.streams.update('COMMANDS', { duplicate_window: 100_000_000 });
  });

  test('doorbells that wait are published once more, with a PubAck, and not again, also past a ring check', async () => {
    const tasks = await Promise.all(Array.from({ length: 6 * SLOTS }, () => p.submit('one-step', { gate: 'flood' })));
    const waiting = () =>
      p.sql<{ task_id: string; due_at: Date; doorbell_seq: string | null }>(
        `SELECT task_id, due_at, doorbell_seq FROM ledger.steps s JOIN ledger.tasks USING (task_seq) WHERE phase = 'dispatched' AND task_id = ANY($1)`,
        [tasks],
      );
    const first = await waitFor('slots full, and as many rung for', async () => {
      const rows = await waiting();
      return rows.length === SLOTS && rows;
    });
    await waitFor('the broker to say where they hang', async () =>
      (await waiting()).every((row) => row.doorbell_seq !== null),
    );
    const last = await lastSequence();
    await waitFor('their ring checks', async () => {
      const now = new Map((await waiting()).map((row) => [row.task_id, row.due_at.getTime()]));
      return first.every(({ task_id, due_at }) => (now.get(task_id) ?? 0) > due_at.getTime());
    });
    expect(await lastSequence()).toBe(last);
    p.openGate('flood');
    for (const taskId of tasks) await expectOneRun(taskId);
    await expectConserved(p.platform);
  });

  test('a PubAck that was not noted: one more doorbell hangs beside the first ones, and the claim lets one run', async () => {
    const worker = p.platform.service('analyzer');
    await worker.stop();
    const taskId = await p.submit('one-step', {});
    const noted = await sequenceOf(taskId);
    await waitFor('one more', async () => {
      await forgetSequence(taskId);
      return (await sequenceOf(taskId)) > noted;
    });
    // At its dispatch, when nobody claimed it, and when the sequence was forgotten.
    expect(await countMessages(p.platform, 'COMMANDS')).toBe(3);
    await p.startWorker();
    await expectOneRun(taskId);
    await expectConserved(p.platform);
  });
});

async function sequenceOf(taskId: string): Promise<number> {
  return await waitFor('the sequence on record', async () => {
    const rows = await p.sql<{ seq: number | null }>(
      'SELECT doorbell_seq::int4 AS seq FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1',
      [taskId],
    );
    return rows[0]?.seq ?? false;
  });
}

/** As though it had been rung for long ago, and its PubAck had not been noted. */
async function forgetSequence(taskId: string): Promise<void> {
  await p.sql(
    'UPDATE ledger.steps s SET doorbell_seq = NULL, due_at = now() FROM ledger.tasks t WHERE t.task_seq = s.task_seq AND task_id = $1',
    [taskId],
  );
}

async function expectOneRun(taskId: string): Promise<void> {
  expect((await p.client.result(taskId)).state).toBe('completed');
  expect(p.deeds(taskId).map(({ what, attempt }) => [what, attempt])).toEqual([
    ['start', 1],
    ['effect', 1],
  ]);
}

/** Of the stream: how many doorbells it ever took. */
async function lastSequence(): Promise<number> {
  const { raw } = await adminOf(p.platform);
  const reply = await raw.request('$JS.API.STREAM.INFO.COMMANDS', '', { timeout: 10_000 });
  return reply.json<{ state: { last_seq: number } }>().state.last_seq;
}

async function readGauge(name: string): Promise<number> {
  const response = await fetch(`${p.platform.service('scheduler').healthUrl}/metrics`);
  const line = (await response.text())
    .split('\n')
    .find((each) => each.startsWith(`${name}{`) || each.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1));
}
