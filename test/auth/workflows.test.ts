import { type Bus, request } from '@cleanslate/bus';
import type { Client } from '@cleanslate/client';
import { encodeMessage, subjects, WorkflowRegister } from '@cleanslate/contracts';
import { defineWorkflow } from '@cleanslate/domain';
import { type Platform, startPlatform, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';

// What a worker says when it starts, to two schedulers that share one ledger.

let platform: Platform;
let client: Client;
let analyzer: Bus;
let generator: Bus;
const lines: string[] = [];
beforeAll(async () => {
  platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['scheduler', 'scheduler', 'gateway'],
    log: (_name, line) => lines.push(line),
  });
  client = await platform.client();
  analyzer = await platform.broker.connect({ kind: 'worker', role: 'analyzer' });
  generator = await platform.broker.connect({ kind: 'worker', role: 'generator' });
});
afterAll(async () => {
  await Promise.all([analyzer?.close(), generator?.close()]);
  await platform?.[Symbol.asyncDispose]();
});

const WORKER = new URL('../fixtures/registering-worker.ts', import.meta.url).pathname;

let said = 0;
async function register(bus: Bus, role: string, plan: object): Promise<void> {
  const attributes = {
    id: `w:${++said}`,
    source: `/services/${role}/w`,
    tenantid: 'system',
    time: new Date().toISOString(),
  };
  const data = { worker: `${role}-0123456789ab`, role, workflows: [{ ...plan }] };
  await request(bus, subjects.register(role), encodeMessage(WorkflowRegister, attributes, data), { timeoutMs: 5_000 });
}

const planOf = (name: string, executor = 'poems/write') =>
  defineWorkflow({
    name,
    input: z.strictObject({ topic: z.string() }),
    result: 'steps.write.output',
    steps: { write: { role: 'analyzer', executor, input: { topic: 'input.topic' } } },
  }).plan;

test('a registered workflow is known to every scheduler at once, with its input’s schema', async () => {
  const input = { topic: 'rain' };
  await expect(client.submit({ workflow: 'poem', input })).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
  await register(analyzer, 'analyzer', planOf('poem'));
  // Twenty submits are spread over both; only one of them answered the registration.
  const tasks = await Promise.all(Array.from({ length: 20 }, () => client.submit({ workflow: 'poem', input })));
  expect(new Set(tasks.map((task) => task.state))).toEqual(new Set(['pending']));
  await expect(client.submit({ workflow: 'poem', input: { theme: 'rain' } })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  });
});

test('a name belongs to the role that registered it first, and never to a worker where it is built in', async () => {
  await register(analyzer, 'analyzer', planOf('ode'));
  await expect(register(generator, 'generator', planOf('ode'))).rejects.toMatchObject({
    code: 'WORKFLOW_TAKEN',
    disposition: 'conflict',
    message: expect.stringContaining('role "analyzer"'),
  });
  await expect(register(analyzer, 'analyzer', planOf('noop'))).rejects.toMatchObject({ code: 'WORKFLOW_TAKEN' });
  await register(analyzer, 'analyzer', planOf('ode'));
});

test('a plan that can not be is refused by step and fault, and nothing of it is kept', async () => {
  const plan = planOf('broken');
  const [step] = plan.steps;
  await expect(
    register(analyzer, 'analyzer', { ...plan, steps: [{ ...step, after: ['write'] }] }),
  ).rejects.toMatchObject({ code: 'PLAN_INVALID', message: expect.stringContaining('cycle') });
  await expect(client.submit({ workflow: 'broken', input: { topic: '' } })).rejects.toMatchObject({
    code: 'UNKNOWN_WORKFLOW',
  });
});

test('an input schema that cannot be read is refused before it is stored', async () => {
  const plan = { ...planOf('unreadable'), inputSchema: { type: 'object', unevaluatedProperties: false, if: {} } };
  await expect(register(analyzer, 'analyzer', plan)).rejects.toMatchObject({
    code: 'PLAN_INVALID',
    message: expect.stringContaining('inputSchema'),
  });
  expect(await platform.database.sql(`SELECT FROM ledger.workflows WHERE workflow = 'unreadable'`)).toEqual([]);
});

test('no role speaks for another, nor on its subject', async () => {
  await expect(register(analyzer, 'generator', planOf('stolen'))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});

test('a changed plan holds for what is submitted from then on; what is under way keeps its own', async () => {
  await register(analyzer, 'analyzer', planOf('song', 'songs/old'));
  const input = { topic: 'sea' };
  const before = await client.submit({ workflow: 'song', input });
  await register(analyzer, 'analyzer', planOf('song', 'songs/new'));
  const executorOf = async (taskId: string) =>
    (
      await platform.database.sql<{ executor: string }>(
        'SELECT executor FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1',
        [taskId],
      )
    )[0]?.executor;
  await waitFor('the new plan at both', async () => {
    const tasks = await Promise.all(Array.from({ length: 8 }, () => client.submit({ workflow: 'song', input })));
    const executors = await Promise.all(tasks.map((task) => executorOf(task.taskId)));
    return executors.every((executor) => executor === 'songs/new');
  });
  expect(await executorOf(before.taskId)).toBe('songs/old');
});

test('a worker whose workflow belongs to another ends, and says why', async () => {
  await expect(platform.start('analyzer', { WORKFLOW: 'noop' }, WORKER)).rejects.toThrow(/WORKFLOW_TAKEN/);
});

test('a worker that finds no scheduler waits for one, and is ready when its workflow is known', async () => {
  for (const each of platform.services.filter((service) => service.name === 'scheduler')) await each.kill('SIGKILL');
  let isReady = false;
  const worker = platform.start('analyzer', { WORKFLOW: 'patience' }, WORKER).then(() => {
    isReady = true;
  });
  await waitFor('a first try', () => lines.some((line) => line.includes('not registered yet')));
  expect(isReady).toBe(false);
  await platform.start('scheduler');
  await worker;
  const { taskId } = await client.submit({ workflow: 'patience', input: { topic: 'tea' } });
  expect((await client.result(taskId)).result).toEqual({ topic: 'tea' });
});
