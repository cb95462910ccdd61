import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from './free-port.ts';
import { startNatsServer } from './nats-server.ts';
import { isRunning } from './process-tree.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'nats-launcher-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const isHealthy = async (monitorUrl: string) =>
  (await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(300) }).catch(() => undefined))?.ok ?? false;

test('answers after start, after a crash and restart on the same port, and not while suspended', async () => {
  await using server = await startNatsServer({ dir });
  const { port, pid } = server;
  expect(await isHealthy(server.monitorUrl)).toBe(true);

  await server.kill();
  expect(isRunning(pid)).toBe(false);
  await server.restart();
  expect(server.port).toBe(port);
  expect(server.pid).not.toBe(pid);
  expect(await isHealthy(server.monitorUrl)).toBe(true);

  await server.suspend();
  expect(await isHealthy(server.monitorUrl)).toBe(false);
  await server.resume();
  expect(await isHealthy(server.monitorUrl)).toBe(true);
});

test('reload takes a new configuration, and reports a refused one while the old stays in force', async () => {
  await using server = await startNatsServer({ dir });
  await server.reload('authorization { user: a, password: b }');
  await expect(server.reload('authorization {')).rejects.toMatchObject({ code: 'RELOAD_FAILED' });
  const variables = (await (await fetch(`${server.monitorUrl}/varz`)).json()) as { auth_required?: boolean };
  expect(variables.auth_required).toBe(true);
});

test('a configuration that the server refuses is reported with its reason', async () => {
  await expect(startNatsServer({ dir, config: 'authorization {' })).rejects.toMatchObject({
    code: 'START_FAILED',
    message: expect.stringContaining('Parse error'),
  });
});

test('a port that someone else holds is reported, and their answer not taken for ours', async () => {
  const port = await findFreePort();
  const squatter = createServer((socket) => socket.end('INFO {}\r\n'));
  await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
  try {
    await expect(startNatsServer({ dir, port })).rejects.toMatchObject({
      code: 'START_FAILED',
      message: expect.stringContaining('address already in use'),
    });
  } finally {
    squatter.close();
  }
});

test('a program that can not be executed is named', async () => {
  const choice = { kind: 'binary', path: join(dir, 'no-such-server'), version: '0', why: 'test' } as const;
  await expect(startNatsServer({ dir, choice })).rejects.toThrow(/no-such-server could not be executed/);
});
