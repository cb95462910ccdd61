import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, type Service, startPostgres } from '@cleanslate/infra';
import {
  createTestDatabase,
  type Platform,
  SERVICE_NAMES,
  type ServiceName,
  startPlatform,
  waitFor,
} from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ScriptedPlatform, show, startScripted } from '../fixtures/scripted-platform.ts';

// What Kubernetes sees of a service whose broker or database is away: alive, not ready, and ready again by itself.

vi.setConfig({ testTimeout: 240_000 });

let folder: string;
let postgres: PostgresServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cleanslate-dependencies-'));
  // Of its own, to be frozen and killed.
  postgres = await startPostgres({ dir: folder, durable: false });
  // The servers of tests answer before a commit is written anywhere; one that is to be killed must not.
  await using scratch = await createTestDatabase(postgres.adminUrl);
  await scratch.sql(`ALTER ROLE ALL SET synchronous_commit = 'on'`);
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

const status = async (url: string | undefined, path: string, timeoutMs = 30_000): Promise<number> =>
  (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(timeoutMs) })).status;
const statuses = (services: readonly Service[], path: string) =>
  Promise.all(services.map(({ healthUrl }) => status(healthUrl, path)));
const all = (services: readonly Service[], value: number) => services.map(() => value);

describe('a service whose surroundings fail', () => {
  let p: ScriptedPlatform;
  beforeAll(async () => {
    p = await startScripted({ postgresAdminUrl: postgres.adminUrl, env: { LEASE_MS: '30000' } });
  });
  afterAll(() => p[Symbol.asyncDispose]());

  test('F4: a step that blocks the event loop for 4 s is no reason to restart its worker', async () => {
    const taskId = await p.submit('one-step', { blockMs: 4_000 });
    const { at } = await p.deed(taskId, 'start');
    const { healthUrl } = p.platform.service('analyzer');
    // What the kubelet allows is in the manifests, and held there by another test.
    expect(await status(healthUrl, '/healthz')).toBe(200);
    expect(Date.now() - at, 'it was blocked').toBeGreaterThan(3_900);
    expect((await p.client.result(taskId)).state).toBe('completed');
  });

  test('F4, F5: broker frozen: alive throughout, not ready while it is, ready after its return', async () => {
    const { services, broker } = p.platform;
    await waitFor('all ready', async () => (await statuses(services, '/readyz')).every((each) => each === 200));
    await broker.server.suspend();
    await waitFor('none ready', async () => (await statuses(services, '/readyz')).every((each) => each === 503), {
      timeoutMs: 60_000,
    });
    expect(await statuses(services, '/healthz')).toEqual(all(services, 200));
    await broker.server.resume();
    await waitFor('all ready', async () => (await statuses(services, '/readyz')).every((each) => each === 200), {
      timeoutMs: 60_000,
    });
    expect(services.map(({ exit }) => exit)).toEqual(services.map(() => undefined));
  });

  test('F4: database frozen: alive throughout; whoever needs it is not ready, and says so', async () => {
    const { services } = p.platform;
    const users = services.filter(({ name }) => name !== 'analyzer');
    await postgres.suspend();
    await waitFor('none ready', async () => (await statuses(users, '/readyz')).every((each) => each === 503), {
      timeoutMs: 60_000,
    });
    const answer = await fetch(`${p.platform.service('gateway').healthUrl}/readyz`);
    expect(await answer.text()).toMatch(/"database":"(?!ok)/);
    expect(await statuses(services, '/healthz')).toEqual(all(services, 200));
    await postgres.resume();
    await waitFor('all ready', async () => (await statuses(services, '/readyz')).every((each) => each === 200), {
      timeoutMs: 60_000,
    });
    expect(services.map(({ exit }) => exit)).toEqual(services.map(() => undefined));
  });
});

describe('F7: services that start before what they need', () => {
  /** Longer than any of their own time-outs for one try. */
  const AWAY_MS = 8_000;
  const ports = new Map<string, number>();
  let platform: Platform;
  beforeAll(async () => {
    const log = (name: string, line: string) => {
      const port = /"event":"listening","healthPort":(\d+)/.exec(line)?.[1];
      if (port !== undefined) ports.set(name, Number(port));
      show(name, line);
    };
    platform = await startPlatform({ postgresAdminUrl: postgres.adminUrl, services: [], log });
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  test('wait, alive and saying for what, and are ready once both are there', async () => {
    await Promise.all([platform.broker.server.kill(), postgres.kill()]);
    const starting = Promise.allSettled(SERVICE_NAMES.map((name) => platform.start(name)));
    await waitFor('all listening', () => ports.size === SERVICE_NAMES.length, { timeoutMs: 60_000 });
    await sleep(AWAY_MS);
    for (const name of SERVICE_NAMES) {
      expect([name, await status(urlOf(name), '/healthz')]).toEqual([name, 200]);
      const ready = await fetch(`${urlOf(name)}/readyz`);
      expect([name, ready.status, await ready.text()]).toEqual([
        name,
        503,
        expect.stringMatching(/can't be (used|reached) yet/),
      ]);
    }
    await Promise.all([platform.broker.server.restart(), postgres.restart()]);
    expect((await starting).map(({ status }) => status)).toEqual(SERVICE_NAMES.map(() => 'fulfilled'));
    const client = await platform.client();
    const { taskId } = await client.submit({ workflow: 'noop', input: {} });
    expect((await client.result(taskId)).state).toBe('completed');
  });

  test('a password that stays wrong ends the process, with what to do about it and without the password', async () => {
    const url = new URL(platform.database.urlOf('cleanslate_gateway'));
    url.password = 'not-this-one';
    const started = platform.start('gateway', { DATABASE_URL: url.href });
    const failure = await started.then(
      () => undefined,
      (error: unknown) => JSON.stringify(error, Object.getOwnPropertyNames(error)),
    );
    expect(failure).toMatch(/exit code 1/);
    expect(failure).toContain('check user and password of DATABASE_URL');
    expect(failure).not.toContain('not-this-one');
  });

  function urlOf(name: ServiceName): string {
    return `http://127.0.0.1:${ports.get(name)}`;
  }
});
