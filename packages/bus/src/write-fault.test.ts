import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STREAMS } from '@cleanslate/contracts';
import { type NatsChoice, readToolchain, startNatsServer } from '@cleanslate/infra';
import { expect, test } from 'vitest';
import type { Bus } from './bus.ts';
import { Publisher } from './publisher.ts';
import { startTestBroker } from './test-broker.ts';
import { until } from './until.ts';
import { findWriteFault } from './write-fault.ts';

const nats = readToolchain().nats;

/**
 * A server that can write no file beyond 64 KiB (128 blocks of 512) as long as `tight` exists: for the
 * server the same as a full disk.
 */
async function writeTightServer(dir: string, path: string): Promise<{ choice: NatsChoice; tight: string }> {
  const tight = join(dir, 'tight');
  const program = join(dir, 'nats-server');
  await writeFile(tight, '');
  const script = `#!/bin/sh\nif [ -e '${tight}' ]; then trap '' XFSZ; ulimit -f 128; fi\nexec '${path}' "$@"\n`;
  await writeFile(program, script, { mode: 0o755 });
  return { choice: { kind: 'binary', path: program, version: 'tight', why: 'a disk that is full' }, tight };
}

test.skipIf(nats?.kind !== 'binary')('a stream that could not be written is told from those that can', async () => {
  if (nats?.kind !== 'binary') return;
  const dir = await mkdtemp(join(tmpdir(), 'cs-tight-'));
  const { choice, tight } = await writeTightServer(dir, nats.path);
  await using broker = await startTestBroker((options) => startNatsServer({ ...options, choice }));
  const faults = async (bus: Bus) => await Promise.all(STREAMS.map(({ name }) => findWriteFault(bus, name)));
  const none = STREAMS.map(() => undefined);
  const tenant = await broker.connect({ kind: 'tenant', tenantId: 'acme' });
  const publisher = new Publisher(tenant, { silentAfterMs: 200 });
  const submit = (bytes: number) => ({
    stream: 'INTAKE',
    subject: 'cmd.task.acme',
    messageId: `bytes-${bytes}`,
    body: new Uint8Array(bytes),
  });
  await publisher.publish(submit(10));
  expect(await faults(broker.admin)).toEqual(none);

  publisher.publish(submit(100_000)).catch(() => undefined);
  await until(async () => (await faults(broker.admin))[0] !== undefined, 'the stream could not be written');
  const [intake, ...others] = await faults(broker.admin);
  expect(intake).toMatch(/INTAKE.*file too large/);
  expect(others).toEqual(none.slice(1));
  await expect(publisher.publish(submit(11), { giveUpAfterMs: 500 })).rejects.toThrow(/gave up/);
  expect(publisher.problem()).toMatch(/^the stream INTAKE takes nothing/);
  publisher.close();

  await rm(tight);
  await broker.server.restart();
  const admin = await broker.connect({ kind: 'admin' });
  expect(await faults(admin)).toEqual(none);
  // Nothing that was stored went, and nothing came.
  const info = await admin.raw.request('$JS.API.STREAM.INFO.INTAKE');
  expect(info.json<{ state: { messages: number } }>().state.messages).toBe(1);
  await rm(dir, { recursive: true });
});
