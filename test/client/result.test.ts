import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@cleanslate/client';
import { type Platform, startPlatform, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl') });
});
afterAll(() => platform[Symbol.asyncDispose]());

test('who waits for a result waits through a gateway that is away', async () => {
  const client = await platform.client();
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });
  const gateway = platform.service('gateway');
  await gateway.kill('SIGKILL');
  await gateway.exited;
  // Which of the two depends on whether the broker has noticed by now.
  await expect(client.task(taskId)).rejects.toMatchObject({
    code: expect.stringMatching(/^(BROKER_UNAVAILABLE|REQUEST_TIMEOUT)$/),
  });
  const result = client.result(taskId);
  await platform.start('gateway');
  expect((await result).state).toBe('completed');
});

test('who submits waits through a broker that is away, and it is one task', async () => {
  const client = await platform.client();
  const { server } = platform.broker;
  await server.kill();
  await waitFor('the client noticed', () => !client.bus.connected);
  const submitted = client.submit({ workflow: 'noop', input: {}, key: 'through-an-outage' });
  // Longer than any one of its questions waits.
  await sleep(6_000);
  await server.restart();
  const { taskId, duplicate } = await submitted;
  expect((await client.result(taskId)).state).toBe('completed');
  const { sql } = platform.database;
  expect(await sql(`SELECT task_id FROM ledger.tasks WHERE idempotency_key = 'through-an-outage'`)).toEqual([
    { task_id: taskId },
  ]);
  expect(duplicate).toBe(false);
});

test('a submit that no broker takes ends at its time, and says how to find out', async () => {
  const client = await connect({ servers: platform.broker.url, tenant: 'acme', password: platform.broker.password });
  await platform.broker.server.kill();
  await waitFor('the client noticed', () => !client.bus.connected);
  const submitted = client.submit({ workflow: 'noop', input: {}, key: 'never' }, { timeoutMs: 1_500 });
  await expect(submitted).rejects.toMatchObject({
    code: 'BROKER_UNAVAILABLE',
    disposition: 'retryable',
    details: { taskId: expect.any(String) },
    message: expect.stringContaining(
      '`slate doctor` tells what the broker lacks; when the broker is back, submit again with the same key',
    ),
  });
  await client.close();
  await platform.broker.server.restart();
});

test('a change asked for while no scheduler runs waits for it, and happens once', async () => {
  // A scheduler that starts on a busy machine is waited for longer than a client would by itself.
  const { url: servers, password } = platform.broker;
  await using client = await connect({ servers, tenant: 'acme', password, requestTimeoutMs: 30_000 });
  const { taskId } = await waitFor('the platform works again', () =>
    client.submit({ workflow: 'noop', input: {} }).catch(() => undefined),
  );
  const scheduler = platform.service('scheduler');
  await scheduler.kill('SIGKILL');
  await scheduler.exited;
  const cancelled = client.cancel(taskId);
  await platform.start('scheduler');
  expect((await cancelled).taskId).toBe(taskId);
});
