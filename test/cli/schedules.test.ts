import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScheduleView } from '@cleanslate/contracts';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Env, json, type Ran, slate } from './slate.ts';

let platform: Platform;
let dir: string;
let env: Env;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slate-schedules-'));
  const services = ['scheduler', 'gateway'] as const;
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services });
  env = {
    NATS_URL: platform.broker.url,
    NATS_PASSWORD: platform.broker.password,
    DATABASE_URL: platform.database.adminUrl,
    SLATE_TENANT: 'acme',
    CLEANSLATE_HOME: dir,
  };
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ran> => slate(args, env);

test('a schedule is added, listed, paused, resumed and removed; what cannot be read exits with 2', async () => {
  const input = join(dir, 'input.json');
  await writeFile(input, '{}');
  const add = (cron: string) =>
    run('schedule', 'add', 'nightly', 'noop', '--cron', cron, '--input', input, '--time-zone', 'Europe/Berlin');
  const added = await add('30 2 * * *');
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect(added.stdout).toMatch(/^schedule nightly {2}next 20/);
  expect((await add('every night')).code).toBe(2);
  const { schedules } = json<{ schedules: ScheduleView[] }>(await run('schedule', 'list', '--json'));
  expect(schedules).toMatchObject([{ scheduleId: 'nightly', cron: '30 2 * * *', overlap: 'skip', missed: 'once' }]);
  expect((await run('schedule', 'pause', 'nightly')).stdout).toContain('paused');
  expect((await run('schedule', 'list')).stdout).toMatch(/nightly.*paused/);
  expect((await run('schedule', 'resume', 'nightly')).stdout).toMatch(/resumed {2}next 20/);
  expect(json(await run('schedule', 'remove', 'nightly', '--json'))).toMatchObject({ changed: true });
  expect((await run('schedule', 'pause', 'nightly')).code).toBe(2);
  const gone = await run('schedule', 'remove', 'nightly');
  expect(gone.code).toBe(2);
  expect(gone.stderr).toMatch(/no schedule "nightly".*NOT_FOUND.*slate schedule list/s);
  expect((await run('schedule', 'list')).code).toBe(0);
});

test('limits of a tenant are set, shown and taken away; a tenant or number that is none exits with 2', async () => {
  const set = await run('tenant', 'limits', 'acme', '--max-running', '20', '--workflow', 'noop=3', '--json');
  expect(set).toMatchObject({ code: 0, stderr: '' });
  expect(json(set)).toEqual({ tenant: 'acme', maxRunning: 20, workflows: { noop: 3 } });
  expect((await run('tenant', 'limits', 'acme')).stdout).toContain('20 steps at once');
  const taken = await run('tenant', 'limits', 'acme', '--max-running', 'none', '--json');
  expect(json(taken)).toEqual({ tenant: 'acme', maxRunning: null, workflows: { noop: 3 } });
  expect((await run('tenant', 'limits', 'acme', '--max-running', '-1')).code).toBe(2);
  expect((await run('tenant', 'limits', 'acme', '--workflow', 'noop')).code).toBe(2);
  expect((await run('tenant', 'limits', 'nobody', '--max-running', '1')).code).toBe(2);
});
