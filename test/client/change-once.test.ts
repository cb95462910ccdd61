import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Publisher, serveEndpoint } from '@cleanslate/bus';
import { KnowledgeLaunder, type LaunderReport } from '@cleanslate/contracts';
import { startTestBroker, type TestBroker } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeOnce, type Wire } from '../../packages/client/src/wire.ts';

let dir: string;
let broker: TestBroker;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'change-once-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  broker = stack.use(await startTestBroker(dir));
});
afterAll(() => stack.disposeAsync());

async function openWire(requestTimeoutMs: number): Promise<Wire> {
  const bus = stack.use(await broker.connect({ kind: 'tenant', tenantId: 'acme' }));
  const publisher = new Publisher(bus);
  stack.defer(async () => publisher.close());
  return { bus, publisher, tenantId: 'acme', source: '/tenants/acme/test', requestTimeoutMs };
}

const REPORT: LaunderReport = {
  reportId: 1,
  startedAt: '2026-11-30T00:00:00.000Z',
  finishedAt: '2026-11-30T00:00:01.000Z',
  askedBy: 'person',
  revision: 1,
  actions: [],
  proposals: [],
  more: false,
  measures: { writeAccuracy: null, sampled: 0, recallHitRate: null, tasks: 0 },
};

test('what goes on without an answer is not begun a second time', async () => {
  await using bus = await broker.connect({ kind: 'knowledge-maintainer' });
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<LaunderReport>();
  let runs = 0;
  const served = serveEndpoint(bus, KnowledgeLaunder, '/test', () => {
    runs++;
    begun.resolve();
    return end.promise;
  });
  await bus.flush();
  const asked = changeOnce(await openWire(300), KnowledgeLaunder, {});
  await expect(asked).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
  await begun.promise;
  expect(runs).toBe(1);
  end.resolve(REPORT);
  await served.stop();
});

test('what nobody heard is asked for again until somebody does', async () => {
  const asked = changeOnce(await openWire(60_000), KnowledgeLaunder, {});
  await using bus = await broker.connect({ kind: 'knowledge-maintainer' });
  const served = serveEndpoint(bus, KnowledgeLaunder, '/test', async () => REPORT);
  expect(await asked).toEqual(REPORT);
  await served.stop();
});
