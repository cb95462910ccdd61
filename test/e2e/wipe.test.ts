import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { applyTopology, Publisher } from '@cleanslate/bus';
import { BUILT_IN_ROLES, consumersFor } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, countMessages, expectConserved } from '../fixtures/conservation.ts';
import { readEvents, toEnvelope } from '../fixtures/event-stream.ts';
import { countSuccesses, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const TASKS = 40;
const DECOYS = 2_000;

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workers: ['analyzer', 'validator'],
    env: { LEASE_MS: '8000' },
    workerEnv: { SLOTS: '8' },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('NATS is wiped while the ledger lives', () => {
  test('under load: commands are rung again, reports said again, settlements repeated, and events keep their positions', async () => {
    const pids = () => p.platform.services.filter(({ exit }) => exit === undefined).map(({ pid }) => pid);
    const settled = await aSettlementOnItsWay();
    // One doorbell that nobody takes, at a low sequence; without slots announced the second one waits in the ledger.
    const queued = await Promise.all(Array.from({ length: 2 }, () => p.submit('unattended', {})));
    await waitFor('the doorbell stored', async () => (await doorbells(queued)).length === 1);
    const held = await p.submit('one-step', { gate: 'no scheduler', unfenced: true });
    await p.deed(held, 'start');
    const tasks = await Promise.all(
      Array.from({ length: TASKS }, () => p.submit('four-steps', { sleepMs: 100, unfenced: true })),
    );
    await waitFor('a part of the effects', () => effects(tasks).length >= TASKS);
    // Reports that only the stream knows: what runs now ends without a scheduler (a fence would wait for one).
    await p.platform.service('scheduler').kill('SIGKILL');
    p.openGate('no scheduler');
    await waitFor('reports nobody applies', async () => (await countMessages(p.platform, 'REPORTS')) > 0);
    const before = pids();
    const published = await publishedPosition();

    await wipe();
    expect(await countMessages(p.platform, 'EVENTS')).toBe(0);
    await takeSequences();
    const sequences = await doorbells(queued);
    expect(Math.max(...sequences)).toBeLessThanOrEqual(await countMessages(p.platform, 'COMMANDS'));

    await Promise.all([p.platform.start('scheduler'), p.platform.start('knowledge-maintainer')]);
    await p.startWorker('analyzer', { ROLE: 'retriever', NATS_USER: 'worker-retriever' });
    await completed([...tasks, ...queued, held, settled]);
    const admin = await adminOf(p.platform);
    await admin.raw.request('$JS.API.STREAM.PURGE.COMMANDS', JSON.stringify({ filter: DECOY }), { timeout: 30_000 });
    await expectConserved(p.platform);
    expect(await p.sql('SELECT letter_id, reason FROM ledger.dead_letters')).toEqual([]);
    expect(await p.sql('SELECT step_id, attempt, spent FROM ledger.steps WHERE spent > 0')).toEqual([]);
    expect(await countSuccesses(p.platform)).toEqual([1]);
    expect(effects(tasks)).toHaveLength(TASKS * 4);
    expect(pids()).toEqual(expect.arrayContaining(before));
    for (const taskId of queued) expect(await stepsOf(p.platform, taskId)).toMatchObject([{ attempt: 1, spent: 0 }]);
    expect(await p.sql(`SELECT FROM ledger.steps WHERE ring > 1`)).not.toEqual([]);
    await expectPositionsGoOnFrom(published);
  });

  test('a submit that was never accepted is the client’s to repeat: the same key makes one task', async () => {
    await p.platform.service('scheduler').kill('SIGKILL');
    const request = { workflow: 'one-step', input: { script: {} }, key: 'said-twice' };
    const submitted = p.client.submit(request);
    await waitFor('the submit stored', async () => (await countMessages(p.platform, 'INTAKE')) > 0);
    await wipe();
    expect(await countMessages(p.platform, 'INTAKE')).toBe(0);
    await p.platform.start('scheduler');
    const { taskId } = await submitted.catch(() => p.client.submit(request));
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(await p.sql(`SELECT FROM ledger.tasks WHERE idempotency_key = 'said-twice'`)).toHaveLength(1);
    expect(effects([taskId])).toHaveLength(1);
    await expectConserved(p.platform);
  });
});

test('durables deleted under load: once they are back all goes on, and what was applied is not applied again', async () => {
  const tasks = await Promise.all(Array.from({ length: TASKS }, () => p.submit('four-steps', { sleepMs: 40 })));
  const told = await p.submit('judged', { candidates: 1 });
  await waitFor('a part of the effects', () => effects(tasks).length >= TASKS);
  const admin = await adminOf(p.platform);
  for (const { stream, durable } of consumersFor(BUILT_IN_ROLES)) {
    const reply = await admin.raw.request(`$JS.API.CONSUMER.DELETE.${stream}.${durable}`, '', { timeout: 30_000 });
    expect(reply.json()).toMatchObject({ success: true });
  }
  await waitFor('a scheduler that says so', async () => {
    return (await fetch(`${p.platform.service('scheduler').healthUrl}/readyz`)).status === 503;
  });
  const { created } = await applyTopology(admin, { roles: BUILT_IN_ROLES });
  expect(created).toContain('durable REPORTS/scheduler-reports');
  await completed([...tasks, told]);
  await expectConserved(p.platform);
  expect(await countSuccesses(p.platform)).toEqual([1]);
  expect(effects(tasks)).toHaveLength(TASKS * 4);
  expect(await p.sql('SELECT step_id, attempt, spent FROM ledger.steps WHERE spent > 0')).toEqual([]);
});

const DECOY = 'cmd.work.generator.globex.decoy';

/** Kills the broker, deletes its store and starts it again, empty but for the topology. */
async function wipe(): Promise<void> {
  const { server } = p.platform.broker;
  const store = join(await folderOf(server.pid), 'jetstream');
  await server.kill();
  await rm(store, { recursive: true });
  await server.restart();
  const admin = await adminOf(p.platform);
  await waitFor('the administrator reconnected', () => admin.connected);
  const { created } = await applyTopology(admin, { roles: BUILT_IN_ROLES });
  expect(created).toContain('stream COMMANDS');
  expect(await readdir(store)).not.toEqual([]);
}

/** The server was started with `-c <folder>/nats-server.conf`. */
async function folderOf(pid: number): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  return join(args[args.indexOf('-c') + 1] ?? '', '..');
}

/** Every sequence a doorbell had before now belongs to somebody else's message. */
async function takeSequences(): Promise<void> {
  const publisher = new Publisher(await p.platform.broker.connect({ kind: 'scheduler' }));
  const body = new TextEncoder().encode('{}');
  await publisher.publishAll(
    Array.from({ length: DECOYS }, (_, i) => ({ stream: 'COMMANDS', subject: DECOY, body, messageId: `decoy-${i}` })),
  );
  publisher.close();
}

/** A finished task whose candidates wait at the maintainer, which died before it read what became of them. */
async function aSettlementOnItsWay(): Promise<string> {
  const taskId = await p.submit('judged', { candidates: 1 }, { judge: { gate: 'settle' } });
  await waitFor('the candidate stored', async () => (await p.sql('SELECT FROM knowledge.candidates')).length === 1);
  await p.platform.service('knowledge-maintainer').kill('SIGKILL');
  p.openGate('settle');
  await p.client.result(taskId);
  await waitFor('the settlement said', async () => {
    return (await p.sql('SELECT FROM ledger.settlements WHERE tries > 0 AND settled_at IS NULL')).length === 1;
  });
  return taskId;
}

async function doorbells(tasks: readonly string[]): Promise<readonly number[]> {
  const rows = await p.sql<{ seq: number }>(
    `SELECT s.doorbell_seq::int4 AS seq FROM ledger.steps s JOIN ledger.tasks USING (task_seq) WHERE task_id = ANY($1) AND doorbell_seq IS NOT NULL`,
    [tasks],
  );
  return rows.map(({ seq }) => seq);
}

async function completed(tasks: readonly string[]): Promise<void> {
  await waitFor(
    'all tasks completed',
    async () => {
      const rows = await p.sql(`SELECT FROM ledger.tasks WHERE state = 'completed' AND task_id = ANY($1)`, [tasks]);
      return rows.length === tasks.length;
    },
    { timeoutMs: 60_000, everyMs: 100 },
  );
}

async function publishedPosition(): Promise<number> {
  const [row] = await p.sql<{ n: number }>('SELECT position::int4 AS n FROM ledger.published');
  return row?.n ?? 0;
}

/** The new stream begins where the old one ended, without a gap and without an end of its own. */
async function expectPositionsGoOnFrom(published: number): Promise<void> {
  const events = (await readEvents(p.platform)).filter(({ subject }) => subject.startsWith('evt.task.'));
  const positions = [...new Set(events.map((event) => Number(toEnvelope(event).sequence)))].sort((a, b) => a - b);
  const first = positions[0] ?? 0;
  expect(published).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(published + 1);
  expect(first).toBeGreaterThan(1);
  expect(positions).toEqual(positions.map((_, i) => first + i));
  expect(positions.at(-1)).toBe(await publishedPosition());
}

function effects(tasks: readonly string[]) {
  return p.deeds().filter((deed) => deed.what === 'effect' && tasks.includes(deed.taskId));
}
