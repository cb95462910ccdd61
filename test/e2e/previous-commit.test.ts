import { type Platform, type ServiceName, startPlatform } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { hasPreviousCommit, unpackPreviousCommit } from '../fixtures/previous-commit.ts';

// A fleet in the middle of a rollout, with what really ran before. Messages that differ on purpose: versions.test.ts.

const ROLES = ['retriever', 'analyzer', 'generator', 'validator'] as const;
const TASKS = 20;

describe.runIf(hasPreviousCommit())('services of the commit before', () => {
  let platform: Platform;
  let previous: ReturnType<typeof unpackPreviousCommit>;
  beforeAll(async () => {
    previous = unpackPreviousCommit();
    platform = await startPlatform({
      postgresAdminUrl: inject('postgresAdminUrl'),
      services: ['scheduler', 'gateway', ...ROLES],
      // No lease ends by itself on a machine that stalls: each step is to be done in one attempt.
      env: { LEASE_MS: '60000', SWEEP_MS: '100' },
    });
  }, 240_000);
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
    previous[Symbol.dispose]();
  });

  test.each<[what: string, old: readonly ServiceName[]]>([
    ['an old worker between new ones, under a new scheduler', ['analyzer']],
    ['an old scheduler over new workers', ['scheduler']],
    ['an old scheduler and old workers, beside a new worker', ['scheduler', 'retriever', 'generator', 'validator']],
  ])(
    '%s: every task completes, each step in one attempt',
    async (_what, old) => {
      const replace = async (name: ServiceName) => {
        const running = platform.services.filter((service) => service.name === name && service.exit === undefined);
        for (const service of running) expect(await service.stop(60_000)).toEqual({ code: 0, signal: null });
        await platform.start(name, {}, old.includes(name) ? previous.entryOf(name) : undefined);
      };
      await Promise.all(['scheduler' as const, ...ROLES].map(replace));
      const client = await platform.client();
      const submitted = await Promise.all(
        Array.from({ length: TASKS }, () => client.submit({ workflow: 'noop', input: {} })),
      );
      const results = await Promise.all(submitted.map(({ taskId }) => client.result(taskId)));
      expect(results.map(({ state }) => state)).toEqual(results.map(() => 'completed'));
      const spent = await platform.database.sql('SELECT FROM ledger.steps WHERE attempt <> 1 OR spent > 1');
      expect(spent).toEqual([]);
      await expectConserved(platform);
    },
    240_000,
  );

  test('an old scheduler beside a new one, and the new one alone: every task completes, each step in one attempt', async () => {
    for (const service of platform.services.filter(({ name, exit }) => name !== 'gateway' && exit === undefined))
      expect(await service.stop(60_000)).toEqual({ code: 0, signal: null });
    const [old] = await Promise.all([
      platform.start('scheduler', {}, previous.entryOf('scheduler')),
      platform.start('scheduler'),
      ...ROLES.map((role) => platform.start(role)),
    ]);
    const client = await platform.client();
    const submit = () =>
      Promise.all(Array.from({ length: TASKS }, () => client.submit({ workflow: 'noop', input: {} })));
    const both = await submit();
    for (const { taskId } of both) expect((await client.result(taskId)).state).toBe('completed');
    const last = await submit();
    expect(await old?.stop(60_000)).toEqual({ code: 0, signal: null });
    for (const { taskId } of last) expect((await client.result(taskId)).state).toBe('completed');
    expect(await platform.database.sql('SELECT FROM ledger.steps WHERE attempt <> 1 OR spent > 1')).toEqual([]);
    await expectConserved(platform);
  }, 240_000);
});
