import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskView } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { PLAN_WORKFLOWS, scripts } from '../fixtures/plan-workflows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { type Env, json, type Ran, slate } from './slate.ts';

let p: ScriptedPlatform;
let dir: string;
let env: Env;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slate-controls-'));
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workflows: PLAN_WORKFLOWS,
    workers: ['analyzer', 'validator'],
  });
  const { url, password } = p.platform.broker;
  env = { NATS_URL: url, NATS_PASSWORD: password, SLATE_TENANT: 'acme', CLEANSLATE_HOME: dir };
});
afterAll(async () => {
  await p?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ran> => slate(args, env);

async function submitGated(): Promise<{ taskId: string; sha256: string }> {
  const { taskId } = await p.client.submit({ workflow: 'gated-result', input: scripts({}) });
  const sha256 = await waitFor('the gate', async () => (await p.client.task(taskId)).gate?.sha256);
  return { taskId, sha256 };
}

test('task show prints the gate with hash and expiry; approve with that hash completes the task', async () => {
  const { taskId, sha256 } = await submitGated();
  const shown = await run('task', 'show', taskId);
  expect(shown.stdout).toContain(`hash       ${sha256}`);
  expect(shown.stdout).toMatch(/waits for a person; at 20[0-9T:.-]+Z it is rejected/);
  expect(await run('task', 'approve', taskId, '--hash', 'abc')).toMatchObject({ code: 2 });
  const other = await run('task', 'approve', taskId, '--hash', 'f'.repeat(64));
  expect(other.code).toBe(2);
  expect(other.stderr).toContain('GATE_MISMATCH');
  const approved = await run('task', 'approve', taskId, '--hash', sha256, '--json');
  expect(approved.code).toBe(0);
  expect(json(approved)).toEqual({ taskId, state: 'completed', decision: 'approved', by: 'person' });
  expect((await run('task', 'show', taskId)).stdout).toContain('gate       approved by person');
  const watched = await run('task', 'watch', taskId, '--after', '1-0');
  expect(watched.stdout + watched.stderr).toContain('the result of judge waits for a person until');
});

test('a cancel says whether what was done is undone first, and so does one that comes too late for more', async () => {
  const input = scripts({ j: { gate: 'never' }, undo: { gate: 'undone' } });
  const { taskId } = await p.client.submit({ workflow: 'undoing', input });
  await waitFor('the last step', async () =>
    (await p.client.task(taskId)).steps.some(({ stepId, phase }) => stepId === 'j' && phase === 'executing'),
  );
  const undone = 'what its finished steps did is undone first';
  expect((await run('task', 'cancel', taskId)).stdout).toBe(`cancelled ${taskId}; ${undone}\n`);
  const again = `nothing to cancel: ${taskId} has failed already, and what its finished steps did is being undone\n`;
  expect((await run('task', 'cancel', taskId)).stdout).toBe(again);
  p.openGate('undone');
  expect((await p.client.result(taskId)).error?.code).toBe('CANCELLED');
  expect((await run('task', 'cancel', taskId)).stdout).toBe(`nothing to cancel: ${taskId} is failed\n`);
});

test('reject, retry, then edit: each says what became of the task', async () => {
  const { taskId, sha256 } = await submitGated();
  const rejected = await run('task', 'reject', taskId, '--hash', sha256, '--reason', 'no');
  expect(rejected).toMatchObject({ code: 0, stdout: `rejected: ${taskId} is failed\n` });
  const retried = await run('task', 'retry', taskId, '--deadline', '2h', '--json');
  expect(json(retried)).toMatchObject({ taskId, state: 'awaiting_validation' });
  const file = join(dir, 'result.json');
  await writeFile(file, '{"text":"by hand"}');
  expect(await run('task', 'edit', taskId, '--hash', sha256, '--input', file)).toMatchObject({ code: 0 });
  expect(json<TaskView>(await run('task', 'show', taskId, '--json')).result).toEqual({ text: 'by hand' });
  expect((await run('task', 'retry', taskId)).stderr).toContain('ALREADY_COMPLETED');
});

test('fork names the new task and its pin; its origin is shown', async () => {
  const { taskId } = await p.client.submit({ workflow: 'either', input: scripts({}) });
  await p.client.result(taskId);
  const forked = json<{ taskId: string }>(await run('task', 'fork', taskId, '--at', 'j', '--json'));
  expect(forked).toMatchObject({ forkedFrom: taskId });
  expect((await p.client.result(forked.taskId)).state).toBe('completed');
  expect((await run('task', 'show', forked.taskId)).stdout).toContain(`fork of    ${taskId}`);
  expect(await run('task', 'fork', taskId, '--at', 'nope')).toMatchObject({ code: 2 });
});
