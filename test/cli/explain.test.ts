import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { PLAN_WORKFLOWS, type Scripts, scripts } from '../fixtures/plan-workflows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { slate, watchSlate } from '../fixtures/slate.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workflows: PLAN_WORKFLOWS,
    workers: ['analyzer', 'validator'],
  });
});
afterAll(() => p?.[Symbol.asyncDispose]());

const submit = async (workflow: string, given: Scripts = {}) =>
  (await p.client.submit({ workflow, input: scripts(given) })).taskId;
const run = (...args: string[]) => slate(p.platform, ...args);
type Explained = {
  why: { because: string; toDo: string };
  steps: { stepId: string; failures: { attempt: number; error: { code: string } }[] }[];
  letters: { letterId: string }[];
  learned: { outcome: string }[];
};

test('a task that failed: which step, why, each failure, its dead letter, and what to do', async () => {
  const taskId = await submit('join-all', {
    b: { failFirst: 9, failWith: { code: 'MODEL_REFUSED', disposition: 'terminal' } },
  });
  await p.client.result(taskId);
  const { code, stdout } = await run('task', 'explain', taskId, '--tenant', 'acme', '--json');
  expect(code).toBe(0);
  const explained = JSON.parse(stdout) as Explained;
  expect(explained.why.because).toMatch(/^step b \(analyzer\) failed with MODEL_REFUSED: /);
  expect(explained.steps.find(({ stepId }) => stepId === 'b')?.failures).toMatchObject([
    { attempt: 1, error: { code: 'MODEL_REFUSED' } },
  ]);
  const [letter] = explained.letters;
  expect(explained.why.toDo).toContain(letter?.letterId);
  // What it says to do is a command that works.
  const [, shown = ''] = /slate dlq show '([^']+)'/.exec(explained.why.toDo) ?? [];
  expect((await run('dlq', 'show', shown, '--tenant', 'acme')).code).toBe(0);
  const plain = await run('task', 'explain', taskId, '--tenant', 'acme');
  for (const text of ['because', 'to do', '✕ attempt 1', 'MODEL_REFUSED', 'ODD']) expect(plain.stdout).toContain(text);
});

test('one that waits for a person, one that runs, one that nobody knows', async () => {
  const gated = await submit('gated-result');
  await waitFor('the gate', async () => (await p.client.task(gated)).gate);
  expect((await run('task', 'explain', gated, '--tenant', 'acme')).stdout).toContain('waits for a person until');
  const running = await submit('join-all', { a: { hang: true } });
  await p.deed(running, 'start');
  expect((await run('task', 'explain', running, '--tenant', 'acme')).stdout).toMatch(/a runs on \S+/);
  await p.client.cancel(running, 'enough');
  expect((await run('task', 'explain', running, '--tenant', 'acme')).stdout).toContain('CANCELLED');
  expect((await run('task', 'explain', 'none', '--tenant', 'acme')).code).toBe(2);
});

test('what a task proposed, and what became of it; the blackboard by state', async () => {
  const taskId = await submit('join-all', { a: { candidates: 2 } });
  await p.client.result(taskId);
  const explained = await waitFor('the candidates to be settled', async () => {
    const found = JSON.parse((await run('task', 'explain', taskId, '--tenant', 'acme', '--json')).stdout) as Explained;
    return found.learned.length === 2 && found.learned.every(({ outcome }) => outcome !== null) && found;
  });
  expect(explained.learned).toHaveLength(2);
  const listed = await run(
    'fact',
    'candidates',
    '--task',
    taskId,
    '--state',
    'settled',
    '--limit',
    '1',
    '--tenant',
    'acme',
    '--json',
  );
  const page = JSON.parse(listed.stdout) as { candidates: unknown[]; next: string };
  expect(page.candidates).toHaveLength(1);
  const rest = await run('fact', 'candidates', '--task', taskId, '--cursor', page.next, '--tenant', 'acme');
  expect(rest.stdout).toContain(taskId);
});

test('slate top shows at once what is known; rates take a second look', async () => {
  const stop = new AbortController();
  const watched = watchSlate(p.platform, stop.signal, 'top', '--every', '1h');
  await waitFor('the first screen', async () => watched.stdout().includes('analyzer'));
  stop.abort();
  await watched.ended;
  expect(watched.stdout()).toMatch(/accepted … .*steps …/);
});

test('slate top --once: roles with what waits and who works, rates, the broker’s queues', async () => {
  const stuck = await submit('join-all', { a: { hang: true }, b: { hang: true } });
  await p.deed(stuck, 'start');
  let over = false;
  const busy = run('top', '--once', '--every', '2s', '--json').finally(() => {
    over = true;
  });
  // As long as it looks, however late it begins.
  while (!over) await submit('join-all');
  const { code, stdout } = await busy;
  expect(code).toBe(0);
  const top = JSON.parse(stdout) as {
    roles: Record<string, unknown>[];
    rates: { accepted: number };
    tenants: unknown[];
    queues: { consumer: string }[];
    unaccounted: number;
  };
  expect(top.roles).toContainEqual(
    expect.objectContaining({ role: 'analyzer', workers: 1, executing: expect.any(Number), slots: expect.any(Number) }),
  );
  expect(top.rates.accepted).toBeGreaterThan(0);
  expect(top.tenants).toContainEqual(expect.objectContaining({ tenantId: 'acme' }));
  expect(top.queues.length).toBeGreaterThan(5);
  // Nothing waits for a validator: that is no age of nought.
  expect(top.roles.find(({ role }) => role === 'validator')).toMatchObject({ ready: 0, oldestSeconds: null });
  expect(top.unaccounted).toBe(0);
  const plain = await run('top', '--once', '--every', '200ms');
  for (const text of ['ROLE', 'analyzer', 'WORKERS', 'PENDING', 'accepted']) expect(plain.stdout).toContain(text);
  await p.client.cancel(stuck);
});
