import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect } from '@cleanslate/client';
import { taskIdFromKey } from '@cleanslate/contracts';
import { startTestBroker, type TestBroker } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Script, ScriptedScheduler } from './scripted-scheduler.ts';

let dir: string;
let broker: TestBroker;
let client: Client;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'submit-'));
  broker = await startTestBroker(dir);
  client = await connect({ servers: broker.url, tenant: 'acme', password: broker.password, requestTimeoutMs: 200 });
});
afterAll(async () => {
  await client?.close();
  await broker?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const schedulerThat = (script: Script) => ScriptedScheduler.start(broker, script);
const request = { workflow: 'noop', input: {} };

test('an answered submit is sent once', async () => {
  await using scheduler = await schedulerThat({ loses: () => false });
  const submitted = await client.submit({ ...request, key: 'once' }, { answerMs: 30_000 });
  expect(submitted).toMatchObject({ taskId: taskIdFromKey('acme', 'once'), duplicate: false, state: 'pending' });
  expect(scheduler.submitIds).toHaveLength(1);
});

test('a lost answer: said again under the same key with a new message id, one task', async () => {
  await using scheduler = await schedulerThat({ loses: (nth) => nth < 3 });
  const submitted = await client.submit({ ...request, key: 'lost' }, { answerMs: 1_000 });
  expect(submitted).toMatchObject({ taskId: taskIdFromKey('acme', 'lost'), duplicate: true });
  expect([...scheduler.tasks.keys()]).toEqual([submitted.taskId]);
  expect(new Set(scheduler.submitIds).size).toBe(3);
});

test('without a key the task id is what makes the repeat the same task', async () => {
  await using scheduler = await schedulerThat({ loses: (nth) => nth < 2 });
  const submitted = await client.submit(request, { answerMs: 1_000 });
  expect([...scheduler.tasks]).toEqual([[submitted.taskId, 2]]);
});

test('a key known under another task id is answered there, and found', async () => {
  await using _scheduler = await schedulerThat({ loses: () => false, knownAs: { old: 'chosen-by-hand' } });
  expect(await client.submit({ ...request, key: 'old' })).toMatchObject({ taskId: 'chosen-by-hand' });
});

test('a refusal is thrown with its code', async () => {
  await using _scheduler = await schedulerThat({ loses: () => false, conflicts: ['taken'] });
  await expect(client.submit({ ...request, key: 'taken' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
});

test('no scheduler: given up at the deadline, with the task id and what to do', async () => {
  const refused = client.submit({ ...request, key: 'nobody' }, { timeoutMs: 400, answerMs: 100 });
  await expect(refused).rejects.toMatchObject({
    code: 'REQUEST_TIMEOUT',
    message: expect.stringContaining('submit again with the same key'),
    details: { taskId: taskIdFromKey('acme', 'nobody') },
  });
  const keyless = client.submit({ ...request, taskId: 'keyless' }, { timeoutMs: 300, answerMs: 100 });
  await expect(keyless).rejects.toThrow(/slate task show keyless/);
  // The scheduler that comes up later finds every saying, and they are one task for each.
  await using scheduler = await schedulerThat({ loses: () => false });
  await expect.poll(() => scheduler.submitIds.length).toBeGreaterThan(0);
  await expect.poll(() => scheduler.tasks.size).toBe(2);
});

test('an aborted submit throws the reason', async () => {
  const aborted = client.submit({ ...request, key: 'aborted' }, { signal: AbortSignal.timeout(100) });
  await expect(aborted).rejects.toThrow(/abort/i);
});

test.each([
  ['workflow', { workflow: 'No Such', input: {} }],
  ['key', { ...request, key: '' }],
  ['deadlineMs', { ...request, deadlineMs: 1 }],
  ['validAt', { ...request, validAt: 'yesterday' }],
  ['taskId', { ...request, taskId: 'a.b' }],
])('a bad %s is refused before anything is sent, naming the field', async (field, bad) => {
  await expect(client.submit(bad)).rejects.toMatchObject({
    code: 'SCHEMA_MISMATCH',
    message: expect.stringContaining(field),
  });
});
