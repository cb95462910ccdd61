import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskView } from '@cleanslate/contracts';
import { checkoutRoot } from '@cleanslate/infra';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { ContractReport } from '@cleanslate/workflows';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Env, json, type Ran, slate } from './slate.ts';

let platform: Platform;
let dir: string;
let env: Env;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slate-tasks-'));
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl') });
  env = {
    NATS_URL: platform.broker.url,
    NATS_PASSWORD: platform.broker.password,
    SLATE_TENANT: 'acme',
    CLEANSLATE_HOME: dir,
  };
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ran> => slate(args, env);
const samples = join(checkoutRoot, 'infra', 'samples');
const CONTRACT = join(samples, 'contract-en.md');

test('import policies, submit a contract, wait: exit 0 and a report that cites them', async () => {
  const imported = await run('fact', 'import', join(samples, 'policies-en.yaml'), '--json');
  expect(imported.code, imported.stderr).toBe(0);
  expect(json<{ outcomes: { outcome: string }[] }>(imported).outcomes[0]?.outcome).toBe('accepted');

  const waited = await run('submit', 'contract-review', '--input', CONTRACT, '--wait', '--json');
  expect(waited.code, waited.stderr).toBe(0);
  const task = json<TaskView>(waited);
  expect(task.state).toBe('completed');
  const report = ContractReport.parse(task.result);
  expect(report.findings.map((finding) => finding.clause).sort()).toEqual([
    'late_payment_rate',
    'liability_cap',
    'payment_term',
  ]);

  const shown = await run('task', 'show', task.taskId);
  expect(shown.stdout).toContain('# Contract review');
  const got = await run('fact', 'get', 'hl-payment-term-max', '--valid-at', '2024-06-01');
  expect(got.stdout).toContain('within 60 days');
});

test('--watch shows each step to people, and JSON lines to machines', async () => {
  const people = await run('submit', 'contract-review', '--input', CONTRACT, '--watch');
  expect(people.code, people.stderr).toBe(0);
  for (const word of ['accepted', 'retrieve', 'analyze', 'generate', 'validate', 'completed'])
    expect(people.stderr).toContain(word);
  expect(people.stdout).not.toContain('\u001b');
  const machines = await run('submit', 'noop', '--input', await file('{}'), '--watch', '--json');
  const lines = machines.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind?: string; state?: string });
  expect(lines.at(-1)?.state).toBe('completed');
  expect(lines.some((line) => line.kind === 'event')).toBe(true);
});

test('a task that fails: exit 1, with its code; and whoever watches a cancelled one gets 1', async () => {
  const workers = platform.services.filter((service) => service.name === 'retriever');
  for (const worker of workers) worker.suspend();
  try {
    const late = await run('submit', 'noop', '--input', await file('{}'), '--deadline', '300ms', '--wait', '--json');
    expect(late.code, late.stderr).toBe(1);
    expect(json<TaskView>(late)).toMatchObject({ state: 'failed', error: { code: 'DEADLINE_EXCEEDED' } });

    const { taskId } = json<{ taskId: string }>(await run('submit', 'noop', '--input', await file('{}'), '--json'));
    const watching = run('task', 'watch', taskId);
    const cancelled = await run('task', 'cancel', taskId, '--reason', 'test', '--json');
    expect(cancelled.code, cancelled.stderr).toBe(0);
    expect(json(cancelled)).toMatchObject({ state: 'failed', changed: true });
    const watched = await watching;
    expect(watched.code, watched.stderr).toBe(1);
    expect(watched.stderr).toContain('CANCELLED');
    expect((await run('task', 'list', '--state', 'failed')).stdout).toContain(taskId);
    expect((await run('task', 'show', taskId)).stderr).toContain(`how it came about: slate task explain ${taskId}`);
  } finally {
    for (const worker of workers) worker.resume();
  }
});

test('what the ledger refuses: exit 2 with its code, and nothing written', async () => {
  const before = await countTasks();
  const unknown = await run('submit', 'no-such-workflow', '--input', await file('{}'));
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toContain('UNKNOWN_WORKFLOW');
  const wrong = await run('submit', 'contract-review', '--input', await file('{"documents":1}'));
  expect(wrong.code, wrong.stderr).toBe(2);
  expect(wrong.stderr).toContain('input');
  expect(await countTasks()).toBe(before);
  expect((await run('task', 'show', 'no-such-task')).code).toBe(2);
  const known = await run('submit', 'noop', '--input', await file('{}'), '--key', 'k1', '--json');
  const again = await run('submit', 'noop', '--input', await file('{}'), '--key', 'k1', '--json');
  expect(json<{ taskId: string }>(again).taskId).toBe(json<{ taskId: string }>(known).taskId);
  const conflict = await run('submit', 'contract-review', '--input', CONTRACT, '--key', 'k1');
  expect(conflict.code, conflict.stderr).toBe(2);
  expect(conflict.stderr).toContain('IDEMPOTENCY_CONFLICT');
});

test('a typo in a policy is warned about at the import and named in the report', async () => {
  const typo = (await readFile(join(samples, 'policies-en.yaml'), 'utf8')).replace('max_days', 'maxi_days');
  const policies = await file(typo, 'yaml');
  const why = '"maxi_days" is no rule for contract.payment_term';
  const imported = await run('fact', 'import', policies, '--tenant', 'globex', '--json');
  expect(imported.code, imported.stderr).toBe(0);
  expect(json<{ warnings: unknown[] }>(imported).warnings).toEqual([
    { knowledgeId: 'hl-payment-term-max', why: expect.stringContaining(why) },
  ]);
  const again = await run('fact', 'import', policies, '--tenant', 'globex');
  expect(again.stderr).toContain(`warning: no contract review can apply hl-payment-term-max: ${why}`);

  const waited = await run('submit', 'contract-review', '--input', CONTRACT, '--tenant', 'globex', '--wait', '--json');
  expect(waited.code, waited.stderr).toBe(0);
  const report = ContractReport.parse(json<TaskView>(waited).result);
  expect(report.unapplied).toEqual([
    { policy: expect.stringMatching(/^hl-payment-term-max@/), why: expect.stringContaining(why) },
  ]);
  expect(report.markdown).toContain('## Policies that could not be applied');
});

test('refused credentials: exit 3', async () => {
  const ran = await slate(['task', 'list'], { ...env, NATS_PASSWORD: 'wrong' });
  expect(ran.code, ran.stderr).toBe(3);
  expect(ran.stderr).toContain('NATS_PASSWORD');
});

test('topology diff and doctor see that all is well, and what is not', async () => {
  const admin = { ...env, DATABASE_URL: platform.database.adminUrl };
  expect((await slate(['topology', 'diff'], admin)).code).toBe(0);
  expect(json(await slate(['migrate', '--dry-run', '--json'], admin))).toEqual({ pending: [] });
  const doctor = json<{ checks: { name: string; state: string }[] }>(await slate(['doctor', '--json'], admin));
  const states = Object.fromEntries(doctor.checks.map((check) => [check.name, check.state]));
  expect(states).toMatchObject({
    broker: 'ok',
    topology: 'ok',
    streams: 'ok',
    migrations: 'ok',
    'unaccounted tasks': 'ok',
    'database clock': 'ok',
  });
});

async function countTasks(): Promise<number> {
  return (await platform.database.sql('SELECT FROM ledger.tasks')).length;
}

async function file(text: string, ending = 'json'): Promise<string> {
  const path = join(dir, `${crypto.randomUUID()}.${ending}`);
  await writeFile(path, text);
  return path;
}
