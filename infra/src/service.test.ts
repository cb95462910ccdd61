import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { isRunning } from './process-tree.ts';
import { startService } from './service.ts';
import { findPinnedNode } from './toolchain.ts';
import { waitUntil } from './wait-until.ts';

const fixtures = join(import.meta.dirname, 'fixtures');
const entry = join(fixtures, 'toy-service.ts');

const startToy = (mode: string, readyTimeoutMs?: number) =>
  startService({
    name: 'toy',
    entry,
    env: { TOY_MODE: mode },
    ...(readyTimeoutMs === undefined ? {} : { readyTimeoutMs }),
  });

test('waits for readiness and stops in good order', async () => {
  await using toy = await startToy('ready');
  expect((await fetch(`${toy.healthUrl}/readyz`)).status).toBe(200);
  expect(await toy.stop()).toEqual({ code: null, signal: 'SIGTERM' });
  expect(isRunning(toy.pid)).toBe(false);
});

test('passes the configuration it was given and not ours', async () => {
  process.env['SECRET_OF_THE_PARENT'] = 'x';
  await using toy = await startToy('ready');
  const line = await waitUntil(() => toy.lastLines().find((each) => each.includes('environment')), {
    timeoutMs: 30_000,
    onTimeout: () => new Error('no environment line'),
  });
  expect(line).toContain('TOY_MODE');
  expect(line).not.toContain('SECRET_OF_THE_PARENT');
});

test('a service that ends while starting is reported with what it printed', async () => {
  await expect(startToy('broken')).rejects.toMatchObject({
    code: 'START_FAILED',
    message: expect.stringMatching(/exit code 3[\s\S]*the toy has no database/),
  });
});

test('a service that does not become ready is ended and its answer reported', async () => {
  await expect(startToy('unready', 5_000)).rejects.toMatchObject({
    code: 'START_TIMEOUT',
    message: expect.stringContaining('503 database: down'),
  });
});

test('one that ignores SIGTERM is killed after the grace period', async () => {
  await using toy = await startToy('stubborn');
  expect(await toy.stop(200)).toEqual({ code: null, signal: 'SIGKILL' });
});

test('suspend freezes it, resume lets it answer', async () => {
  await using toy = await startToy('ready');
  const ask = (ms: number) => fetch(`${toy.healthUrl}/readyz`, { signal: AbortSignal.timeout(ms) });
  toy.suspend();
  await expect(ask(300)).rejects.toThrow();
  toy.resume();
  expect((await ask(30_000)).status).toBe(200);
});

test('no service outlives a parent that is killed, be it stubborn or suspended', async () => {
  const parent = spawn(findPinnedNode(), [join(fixtures, 'toy-parent.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
  parent.kill('SIGKILL');
  const { pids } = JSON.parse(line) as { pids: number[] };
  expect(pids).toHaveLength(3);
  await waitUntil(() => pids.every((pid) => !isRunning(pid)), {
    timeoutMs: 60_000,
    onTimeout: () => new Error(`still running: ${pids.filter(isRunning).join()}`),
  });
});

test('what was started detached outlives its parent and writes to its own log', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'detached-'));
  const logFile = join(dir, 'toy.log');
  const parent = spawnSync(findPinnedNode(), [join(fixtures, 'toy-detacher.ts'), logFile], { encoding: 'utf8' });
  const pid = Number(parent.stdout);
  try {
    await waitUntil(async () => (await readFile(logFile, 'utf8')).includes('listening'), {
      timeoutMs: 30_000,
      onTimeout: () => new Error('the detached toy printed nothing'),
    });
    expect(isRunning(pid)).toBe(true);
  } finally {
    process.kill(pid, 'SIGKILL');
    await rm(dir, { recursive: true, force: true });
  }
});
