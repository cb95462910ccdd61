import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, expectConserved } from '../fixtures/conservation.ts';
import { lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const PRELOAD = new URL('../fixtures/next-contracts.ts', import.meta.url).href;
const next = (NEXT: 'additive' | 'breaking') => ({ NODE_OPTIONS: `--import ${PRELOAD}`, NEXT });

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workers: [] });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('a mixed fleet', () => {
  test('one field more: the old worker reads the new scheduler’s command', async () => {
    await replace('scheduler', () => p.platform.start('scheduler', next('additive')));
    const taskId = await p.submit('one-step', {});
    const command = await lastOf('COMMANDS', `cmd.work.analyzer.acme.${taskId}`);
    expect(command).toMatchObject({ type: 'step.run.v2', minreader: 1, data: { hint: 'new' } });
    await p.startWorker();
    await completesUnspent(taskId, 1);
  });

  test('one field more: the old scheduler reads the new worker’s report, and the new worker the old command', async () => {
    await replace('analyzer', () => p.startWorker('analyzer', next('additive')));
    await replace('scheduler', () => p.platform.start('scheduler'));
    const taskId = await p.submit('one-step', { gate: 'report', unfenced: true });
    await p.deed(taskId, 'start');
    await p.platform.service('scheduler').kill('SIGKILL');
    p.openGate('report');
    const report = await lastOf('REPORTS', `rpt.analyzer.acme.${taskId}`);
    expect(report).toMatchObject({ type: 'step.report.v2', minreader: 1, data: { hint: 'new' } });
    await p.platform.start('scheduler');
    await completesUnspent(taskId, 1);
  });

  test('a command no worker can read yet is handed back unspent until one can, or its queue time is over', async () => {
    await replace('analyzer', () => p.startWorker());
    await replace('scheduler', () => p.platform.start('scheduler', next('breaking')));
    const [waits, expires] = [await p.submit('one-step', {}), await p.submit('short-queue', {})];
    const released = () =>
      p.sql(
        `SELECT FROM ledger.steps WHERE error->>'code' = 'UNSUPPORTED_VERSION' AND phase = 'backing_off' AND spent = 0`,
      );
    await waitFor('both handed back', async () => (await released()).length === 2);
    const failed = await p.client.result(expires);
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'UNSUPPORTED_VERSION' } });
    expect(await lettersOf(p.platform, expires)).toMatchObject([{ reason: 'UNSUPPORTED_VERSION', status: 'open' }]);
    expect(p.deeds(expires)).toEqual([]);
    expect(await stepsOf(p.platform, waits)).toMatchObject([{ spent: 0 }]);
    await replace('analyzer', () => p.startWorker('analyzer', next('breaking')));
    await completesUnspent(waits);
  });

  test('a report the scheduler can’t read yet waits for one that can', async () => {
    await replace('scheduler', () => p.platform.start('scheduler'));
    const taskId = await p.submit('one-step', {});
    await p.deed(taskId, 'effect');
    const newer = await p.platform.start('scheduler', next('breaking'));
    await completesUnspent(taskId);
    await newer.kill('SIGKILL');
  });

  test('where none comes, the attempt is handed back unspent, and an old worker does it', async () => {
    const taskId = await p.submit('one-step', {});
    await waitFor('handed back', async () => {
      const [step] = await stepsOf(p.platform, taskId);
      return step?.error?.code === 'UNSUPPORTED_VERSION' && step.spent === 0;
    });
    await replace('analyzer', () => p.startWorker());
    await completesUnspent(taskId);
    expect(await lettersOf(p.platform, taskId)).toEqual([]);
  });
});

async function replace(name: 'scheduler' | 'analyzer', start: () => Promise<unknown>): Promise<void> {
  const running = p.platform.services.filter((service) => service.name === name && service.exit === undefined);
  for (const service of running) expect(await service.stop(60_000)).toEqual({ code: 0, signal: null });
  await start();
}

async function completesUnspent(taskId: string, attempt?: number): Promise<void> {
  const task = await p.client.result(taskId);
  expect(task.state).toBe('completed');
  expect(task.steps[0]).toMatchObject({ spent: 0, ...(attempt === undefined ? {} : { attempt }) });
  await expectConserved(p.platform);
}

/** The last message on a subject, which nobody has taken yet. */
async function lastOf(stream: string, subject: string): Promise<unknown> {
  const { raw } = await adminOf(p.platform);
  return await waitFor(`a message on ${subject}`, async () => {
    const reply = await raw.request(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ last_by_subj: subject }), {
      timeout: 30_000,
    });
    const { message } = reply.json<{ message?: { data: string } }>();
    return message && (JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')) as object);
  });
}
