import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Client } from '@cleanslate/client';
import { checkoutRoot } from '@cleanslate/infra';
import { type Platform, startPlatform, waitFor } from '@cleanslate/testing';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';

// A worker with no NATS library against the real broker and scheduler. It takes the place of
// the built-in analyzer's pool.

const EXAMPLE = join(checkoutRoot, 'examples', 'python-worker');
const SCRIPTED = new URL('./scripted_worker.py', import.meta.url).pathname;

let platform: Platform;
let client: Client;
beforeAll(async () => {
  platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['scheduler', 'gateway', 'knowledge-maintainer'],
    env: { LEASE_MS: '6000', RING_CHECK_MS: '2000', SWEEP_MS: '100' },
  });
  client = await platform.client();
});
afterAll(() => platform?.[Symbol.asyncDispose]());

const workers: ChildProcess[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) {
    if (worker.exitCode !== null || worker.signalCode !== null) continue;
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  }
});

type Python = { readonly process: ChildProcess; log(): string; exit(): Promise<number | null> };

async function startPython(file: string, env: Readonly<Record<string, string>> = {}): Promise<Python> {
  const child = spawn('python3', [file], {
    env: {
      PATH: process.env['PATH'],
      NATS_URL: platform.broker.url,
      NATS_USER: 'worker-analyzer',
      NATS_PASSWORD: platform.broker.password,
      ROLE: 'analyzer',
      EXAMPLE,
      PYTHONDONTWRITEBYTECODE: '1',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  workers.push(child);
  let log = '';
  let fault: Error | undefined;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  child.once('error', (error) => {
    fault = new Error(
      `python3 is needed for this test and could not be started (apt-get install python3): ${error.message}`,
    );
  });
  const exited = once(child, 'exit');
  exited.catch(() => undefined);
  await waitFor('the worker registered', () => {
    if (fault) throw fault;
    if (child.exitCode !== null) throw new Error(`the worker ended:\n${log}`);
    return log.includes('workflows registered');
  });
  return { process: child, log: () => log, exit: () => exited.then(() => child.exitCode) };
}

const submit = async (text: string) => (await client.submit({ workflow: 'word-count', input: { text } })).taskId;
const started = (python: Python, text: string) =>
  waitFor(`start of ${text}`, () => python.log().includes(`start ${text}\n`));
async function step(taskId: string) {
  const [found] = (await client.task(taskId)).steps;
  if (found === undefined) throw new Error('the task has no step');
  return found;
}

test('the example itself claims, runs and reports', async () => {
  await startPython(join(EXAMPLE, 'worker.py'));
  const { result, state } = await client.result(await submit('to be or not to be'));
  expect(state).toBe('completed');
  expect(result).toEqual({
    words: [
      { word: 'to', times: 2 },
      { word: 'be', times: 2 },
      { word: 'or', times: 1 },
      { word: 'not', times: 1 },
    ],
  });
});

test('its heartbeats keep a claim for longer than a lease; others run beside it', async () => {
  const python = await startPython(SCRIPTED);
  const slow = await submit('slow 12');
  await started(python, 'slow 12');
  const quick = await Promise.all(['a', 'b', 'c', 'd'].map(submit));
  for (const taskId of quick) expect((await client.result(taskId)).state).toBe('completed');
  expect((await client.task(slow)).state).toBe('executing');
  expect((await client.result(slow)).state).toBe('completed');
  expect(await step(slow)).toMatchObject({ attempt: 1, spent: 0 });
  expect(python.log().split('start slow 12\n')).toHaveLength(2);
});

test('a heartbeat names no claim before it is granted: the ledger would call it lost, and nobody would work', async () => {
  const python = await startPython(SCRIPTED, { CLAIM_AFTER_S: '3' });
  const taskId = await submit('late');
  expect((await client.result(taskId)).state).toBe('completed');
  expect(await step(taskId)).toMatchObject({ attempt: 1, spent: 0 });
  expect(python.log()).not.toContain('no longer ours');
});

test('a failure is tried again, then a dead letter; a terminal one is not tried again', async () => {
  await startPython(SCRIPTED);
  const failing = await submit('fail');
  const hopeless = await submit('fail terminal');
  expect((await client.result(failing)).state).toBe('failed');
  expect((await client.result(hopeless)).state).toBe('failed');
  expect((await step(failing)).attempt).toBe(2);
  expect((await step(hopeless)).attempt).toBe(1);
  const { letters } = await client.deadLetters.list({ taskId: failing });
  expect(letters).toHaveLength(1);
  const { history } = await client.deadLetters.show(letters[0]?.letterId ?? '');
  expect(history.filter((entry) => entry.error?.code === 'OUT_OF_WORDS')).toHaveLength(2);
});

test('SIGTERM: what does not fit into the grace period is handed back, with nothing spent, and done by the next one', async () => {
  const first = await startPython(SCRIPTED, { GRACE_S: '0.5' });
  const taskId = await submit('hold 4');
  await started(first, 'hold 4');
  first.process.kill('SIGTERM');
  expect(await first.exit(), first.log()).toBe(0);
  expect(await step(taskId)).toMatchObject({ spent: 0 });
  await startPython(SCRIPTED);
  expect((await client.result(taskId)).state).toBe('completed');
  expect(await step(taskId)).toMatchObject({ attempt: 2, spent: 0 });
});

test('a cancelled step is told so, and reports nothing', async () => {
  const python = await startPython(SCRIPTED);
  const taskId = await submit('doomed 30');
  await started(python, 'doomed 30');
  await client.cancel(taskId);
  await waitFor('the end of it', () => python.log().includes('end doomed 30'));
  expect(python.log()).toContain(`no longer ours: ${taskId}/count`);
  const refusals = await platform.database.sql('SELECT code FROM ledger.refusals WHERE task_id = $1', [taskId]);
  expect(refusals).toEqual([]);
});

test('killed in the middle: its lease ends, and another one does the work', async () => {
  const first = await startPython(SCRIPTED);
  const taskId = await submit('lost 2');
  await started(first, 'lost 2');
  // A claim that no heartbeat named yet would be released with nothing spent.
  await waitFor('its first heartbeat', async () => {
    const sql = 'SELECT beaten FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1';
    return (await platform.database.sql<{ beaten: boolean }>(sql, [taskId]))[0]?.beaten;
  });
  first.process.kill('SIGKILL');
  await startPython(SCRIPTED);
  expect((await client.result(taskId)).state).toBe('completed');
  expect(await step(taskId)).toMatchObject({ spent: 1 });
});

test('a broker that restarts is found again, also in the middle of a step; a large result goes by reference', async () => {
  const python = await startPython(SCRIPTED);
  const running = await submit('through 3');
  await started(python, 'through 3');
  await platform.broker.server.restart();
  expect((await client.result(running)).state).toBe('completed');
  const large = await client.result(await submit('large'));
  expect(large.state).toBe('completed');
  expect(JSON.stringify(large.result).length).toBeGreaterThan(300_000);
  expect(await platform.database.sql('SELECT FROM ledger.objects WHERE length(bytes) > 300000')).toHaveLength(1);
  expect(python.process.exitCode).toBeNull();
  await expectConserved(platform);
});
