import { toReportId } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, expectConserved } from '../fixtures/conservation.ts';
import { type LetterFacts, lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
import { LETTER_WORKFLOWS } from '../fixtures/letter-workflows.ts';
import type { Script } from '../fixtures/script.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { encodeReport } from '../fixtures/worker-messages.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workflows: LETTER_WORKFLOWS,
    env: { LEASE_MS: '5000', RING_CHECK_MS: '500', MAX_RINGS: '2' },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

const WAYS: readonly [why: string, workflow: string, script: Script, code: string, attempts: number][] = [
  [
    'a terminal error',
    'given-up',
    { failFirst: 9, failWith: { code: 'MODEL_REFUSED', disposition: 'terminal' } },
    'MODEL_REFUSED',
    1,
  ],
  ['attempts out', 'given-up', { failFirst: 9 }, 'ATTEMPTS_EXHAUSTED', 2],
  [
    'a version that nobody supports within the queue time',
    'short-queue',
    { failFirst: 999, failWith: { code: 'UNSUPPORTED_VERSION', disposition: 'pause' } },
    'UNSUPPORTED_VERSION',
    1,
  ],
];

describe('giving up', () => {
  test.each(WAYS)('on %s: the task failed and one letter with bytes, headers, story', async (...way) => {
    const [, workflow, script, code, attempts] = way;
    const taskId = await p.submit(workflow, script);
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code } });
    const letter = await onlyLetter(taskId);
    expect(letter).toMatchObject({ reason: code, status: 'open', step_id: 'work', replays: 0 });
    expect(letter.headers).toMatchObject({ 'Cs-Tenant': ['acme'], 'Cs-Task': [taskId], 'Cs-Step': ['work'] });
    expect(JSON.parse(letter.body?.toString() ?? '')).toMatchObject({
      type: 'step.run.v1',
      data: { input: { script } },
    });
    const failures = letter.history.filter((entry) => entry.what === 'attempt_failed');
    expect(failures.length).toBeGreaterThanOrEqual(attempts);
    expect(letter.history.at(-1)).toMatchObject({ what: 'given_up', error: { code } });
  });

  test('A8, crash loop: a worker that dies twice without a report is a letter', async () => {
    const taskId = await p.submit('given-up', { hang: true });
    for (const attempt of [1, 2]) {
      await p.deed(taskId, 'start', attempt);
      await waitFor('a heartbeat that names the claim', async () => {
        const rows = await p.sql<{ beaten: boolean }>(
          'SELECT beaten FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1',
          [taskId],
        );
        return rows[0]?.beaten === true;
      });
      const worker = p.platform.service('analyzer');
      await worker.kill('SIGKILL');
      expect(worker.exit).toMatchObject({ signal: 'SIGKILL' });
      await p.startWorker();
    }
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'ATTEMPTS_EXHAUSTED' } });
    const letter = await onlyLetter(taskId);
    expect(letter.history.map((entry) => entry.error?.code)).toEqual([
      'LEASE_EXPIRED',
      'LEASE_EXPIRED',
      'ATTEMPTS_EXHAUSTED',
    ]);
  });

  test('A9, A27: doorbells deleted more often than the ring limit are a letter, not a loop', async () => {
    const taskId = await p.submit('unheard', {});
    const admin = await adminOf(p.platform);
    let deleted = 0;
    const seen = new Set<number>();
    await waitFor('the step given up', async () => {
      const rows = await p.sql<{ doorbell_seq: number | string | null }>(
        'SELECT doorbell_seq FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1',
        [taskId],
      );
      const seq = Number(rows[0]?.doorbell_seq ?? 0);
      if (seq > 0 && !seen.has(seq)) {
        const reply = await admin.raw.request('$JS.API.STREAM.MSG.DELETE.COMMANDS', JSON.stringify({ seq }), {
          timeout: 30_000,
        });
        if (reply.json<{ success?: boolean }>().success === true) deleted++;
        seen.add(seq);
      }
      return (await stepsOf(p.platform, taskId))[0]?.phase === 'failed';
    });
    expect(deleted).toBe(2);
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'RINGS_EXHAUSTED' } });
    expect(await onlyLetter(taskId)).toMatchObject({ reason: 'RINGS_EXHAUSTED', attempt: 1 });
  });

  test('B7: a reason of any size is kept short and without keys', async () => {
    const taskId = await p.submit('given-up', { hang: true });
    await p.deed(taskId, 'start');
    const [step] = await stepsOf(p.platform, taskId);
    const fence = { epoch: 1, tenantId: 'acme', taskId, stepId: 'work', attempt: 1, claimId: step?.claim_id ?? '' };
    const worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
    const key = 'sk-abcdefghijklmnopqrstuvwxyz0123';
    const error = {
      code: 'MODEL_REFUSED',
      disposition: 'terminal' as const,
      message: `api_key=${key} ${'x'.repeat(3_900)}`,
      details: { stack: `${key}${'y'.repeat(2_000_000)}` },
    };
    const body = encodeReport(fence, { outcome: 'failed', error });
    worker.publish(`rpt.analyzer.acme.${taskId}`, body, { 'Nats-Msg-Id': toReportId(fence) });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'MODEL_REFUSED' } });
    const letter = await onlyLetter(taskId);
    expect(Buffer.byteLength(JSON.stringify(letter.error))).toBeLessThan(8_192);
    expect(JSON.stringify([letter.error, letter.history])).not.toContain(key);
    await worker.close();
  });

  test('nothing is left over', () => expectConserved(p.platform));
});

async function onlyLetter(taskId: string): Promise<LetterFacts> {
  const [letter, ...others] = await lettersOf(p.platform, taskId);
  expect(others).toEqual([]);
  if (letter === undefined) throw new Error('no letter');
  return letter;
}
