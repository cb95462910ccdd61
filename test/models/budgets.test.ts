import { setModelLimits } from '@cleanslate/store';
import { json, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { slate } from '../fixtures/slate.ts';
import { type ModelPlatform, startModelPlatform } from './platform.ts';

const GOOD = json({ severity: 'HIGH', text: 'x' });
const NONE = { maxRequests: null, tokensPerMinute: null, tokensPerDay: null, costPerDay: null };

let at: ModelPlatform;
beforeAll(async () => {
  at = await startModelPlatform(inject('postgresAdminUrl'), 2);
});
afterAll(() => at?.[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const tenantId of [null, 'acme']) await limit({ tenantId, model: '', ...NONE });
  await limit({ tenantId: null, model: 'simulated', ...NONE });
  at.server.forget();
});

const limit = (change: NonNullable<Parameters<typeof setModelLimits>[1]>) =>
  setModelLimits(at.platform.database.adminUrl, change);

async function submit(count: number, tenant = 'acme'): Promise<string[]> {
  const client = await at.platform.client(tenant);
  const input = { text: 'The supplier is liable without limit.' };
  const tasks = Array.from({ length: count }, () => client.submit({ workflow: 'asking', input }));
  return (await Promise.all(tasks)).map(({ taskId }) => taskId);
}

async function results(taskIds: readonly string[]) {
  const client = await at.platform.client();
  return await Promise.all(taskIds.map((taskId) => client.result(taskId)));
}

describe('limits that two worker processes keep together', () => {
  test('requests at once: never more than the limit at the server, by its own count, and both processes get their turn', async () => {
    await limit({ tenantId: null, model: 'simulated', maxRequests: 2 });
    at.server.reply(() => ({ ...GOOD, delayMs: 150 }));
    const tasks = await results(await submit(12));
    expect(tasks.map(({ state }) => state)).toEqual(tasks.map(() => 'completed'));
    expect(at.server.requests).toHaveLength(12);
    expect(at.server.maxConcurrency).toBe(2);
    expect(new Set(tasks.map(({ result }) => (result as { worker: string }).worker)).size).toBe(2);
  });

  test('without a limit more are under way: it is the limit that held them', async () => {
    at.server.reply(() => ({ ...GOOD, delayMs: 2_000 }));
    await results(await submit(12));
    expect(at.server.maxConcurrency).toBeGreaterThan(2);
  });

  test('kill -9 of a process in mid-call: its places come back once their leases are over, and the limit holds throughout', async () => {
    await limit({ tenantId: null, model: 'simulated', maxRequests: 2 });
    let held = true;
    // The first two hang, one process at least with them.
    at.server.reply((_, n) => (n <= 2 && held ? { ...GOOD, stallAfter: 1 } : { ...GOOD, delayMs: 50 }));
    const taskIds = await submit(6);
    await waitFor('two calls under way', () => at.server.concurrency === 2);
    held = false;
    const victims = at.platform.services.filter(({ name, exit }) => name === 'analyzer' && exit === undefined);
    await Promise.all(victims.map((victim) => victim.kill('SIGKILL')));
    await Promise.all([at.startWorker(), at.startWorker()]);
    const tasks = await results(taskIds);
    expect(tasks.map(({ state }) => state)).toEqual(tasks.map(() => 'completed'));
    // Two were asked for twice: by the processes that died, and by their successors.
    expect(at.server.requests).toHaveLength(8);
    expect(at.server.maxConcurrency).toBe(2);
  });

  test('a spent purse of one tenant: handed back with a due time, no attempt spent, nothing sent; another tenant goes on', async () => {
    at.server.reply(() => GOOD);
    // Room for one call's longest answer, not for two.
    await limit({ tenantId: 'acme', model: '', tokensPerDay: 100_000_000 });
    await results(await submit(1));
    const [before] = await limit({ tenantId: 'acme', model: '', tokensPerDay: 4_000 + 4_096 });
    expect(before?.used.tokens).toBeGreaterThan(0);
    await at.platform.database.sql("UPDATE ledger.model_spend SET tokens = 8000 WHERE tenant_id = 'acme'");
    at.server.forget();
    const askedAt = Date.now();
    const [taskId = ''] = await submit(1);
    const client = await at.platform.client();
    const step = await waitFor('handed back', async () => {
      const [each] = (await client.task(taskId)).steps;
      return each?.phase === 'backing_off' ? each : undefined;
    });
    expect(step).toMatchObject({
      spent: 0,
      error: { code: 'MODEL_BUDGET_SPENT', message: expect.stringContaining('tokens per day') },
    });
    expect(Date.parse(step.dueAt ?? '') - askedAt).toBeGreaterThan(4_000);
    expect(at.server.requests).toHaveLength(0);
    const globex = await at.platform.client('globex');
    const [other = ''] = await submit(1, 'globex');
    expect((await globex.result(other)).state).toBe('completed');
    await client.cancel(taskId);
  });

  test('a call larger than a whole limit fails for good, and says which', async () => {
    await limit({ tenantId: null, model: '', tokensPerMinute: 100 });
    const [task] = await results(await submit(1));
    expect(task).toMatchObject({ state: 'failed', error: { code: 'MODEL_BUDGET_SPENT', disposition: 'terminal' } });
    expect(task?.error?.message).toMatch(/of 100 tokens per minute/);
  });

  test('slate model limits sets them, shows what today used, and takes them away', async () => {
    const set = await slate(
      at.platform,
      'model',
      'limits',
      '--model',
      'simulated',
      '--max-requests',
      '3',
      '--cost-per-day',
      '2.5',
    );
    expect(set).toMatchObject({ code: 0, stdout: expect.stringMatching(/\(all\) +simulated +3 .* 2\.5/) });
    const { limits } = JSON.parse((await slate(at.platform, 'model', 'limits', '--json')).stdout);
    expect(limits).toMatchObject([
      { tenantId: null, model: 'simulated', maxRequests: 3, used: { requests: expect.any(Number) } },
    ]);
    await slate(
      at.platform,
      'model',
      'limits',
      '--model',
      'simulated',
      '--max-requests',
      'none',
      '--cost-per-day',
      'none',
    );
    expect((await slate(at.platform, 'model', 'limits')).stderr).toContain('no limits');
    expect((await slate(at.platform, 'model', 'limits', '--tenant', 'nobody', '--max-requests', '1')).code).toBe(2);
  });
});
