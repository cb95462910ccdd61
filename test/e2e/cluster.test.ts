import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyTopology, type Bus, connectBus, Publisher, toNatsServerConfig } from '@cleanslate/bus';
import { type Client, connect } from '@cleanslate/client';
import { BUILT_IN_ROLES, type Principal, subjects } from '@cleanslate/contracts';
import { findFreePort, type NatsServer, startNatsServer } from '@cleanslate/infra';
import { waitFor } from '@cleanslate/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

// Three servers, three copies of each stream: case A21 of docs/failure-cases.md.

const PASSWORD = 'cleanslate-test';
const PRINCIPALS: readonly Principal[] = [
  { kind: 'scheduler' },
  { kind: 'knowledge-maintainer' },
  { kind: 'gateway' },
  { kind: 'admin' },
  ...BUILT_IN_ROLES.map((role): Principal => ({ kind: 'worker', role })),
  { kind: 'tenant', tenantId: 'acme' },
];

const stack = new AsyncDisposableStack();
let servers: NatsServer[];
let urls: string;
let admin: Bus;

beforeAll(async () => {
  servers = await startCluster();
  urls = servers.map(({ url }) => url).join(',');
  admin = stack.use(await connectAs({ kind: 'admin' }));
  await waitFor('the cluster takes streams', () => applyTopology(admin, { roles: BUILT_IN_ROLES, replicas: 3 }), {
    timeoutMs: 180_000,
    everyMs: 500,
  });
}, 240_000);
afterAll(() => stack.disposeAsync());

test('three servers promise no more than the store of each holds, so that a stream can still be changed', async () => {
  const jsm = await jetstreamManager(admin.raw, { checkAPI: false });
  const streams = await jsm.streams.list().next();
  expect(streams.map(({ config }) => config.name)).not.toContain('ROOM');
  expect(streams.reduce((sum, { config }) => sum + config.max_bytes, 0)).toBeLessThanOrEqual(8 * 1024 ** 3);
});

const leaderOf = async (stream: string) => {
  const info = await (await jetstreamManager(admin.raw, { checkAPI: false })).streams.info(stream);
  return info.cluster?.leader;
};

test('A21: 200 messages published while the leader steps down again and again, and is killed, are stored exactly once', async () => {
  const scheduler = stack.use(await connectAs({ kind: 'scheduler' }));
  const publisher = stack.use(new Publisher(scheduler));
  const leaders = new Set<string | undefined>();
  let over = false;
  const unrest = (async () => {
    for (let n = 0; !over; n++) {
      leaders.add(await leaderOf('COMMANDS').catch(() => undefined));
      await admin.raw.request('$JS.API.STREAM.LEADER.STEPDOWN.COMMANDS', '', { timeout: 2_000 }).catch(() => undefined);
      if (n === 2) await killLeader('COMMANDS');
      await sleep(250);
    }
  })();
  for (let n = 0; n < 200; n++) {
    const subject = subjects.work('generator', 'acme', `t-${n}`);
    await publisher.publish({ stream: 'COMMANDS', subject, body: Buffer.from(String(n)), messageId: `a21-${n}` });
    await sleep(10);
  }
  over = true;
  await unrest;
  leaders.delete(undefined);
  expect(leaders.size).toBeGreaterThan(1);
  const jsm = await jetstreamManager(admin.raw, { checkAPI: false });
  const { state } = await waitFor('the stream to answer', () =>
    jsm.streams.info('COMMANDS', { subjects_filter: 'cmd.work.generator.acme.*' }).catch(() => undefined),
  );
  const stored = Object.values(state.subjects ?? {});
  expect([stored.length, Math.max(...stored)]).toEqual([200, 1]);
  await jsm.streams.purge('COMMANDS');
}, 180_000);

test('A21: tasks complete exactly once while the leader of their streams is killed under load', async () => {
  const p: ScriptedPlatform = stack.use(
    await startScripted({
      postgresAdminUrl: inject('postgresAdminUrl'),
      env: { NATS_URL: urls, LEASE_MS: '6000' },
      workerEnv: { SLOTS: '8' },
    }),
  );
  const client: Client = stack.use(await connect({ servers: urls, tenant: 'acme', password: PASSWORD }));
  const submit = async () =>
    (await client.submit({ workflow: 'four-steps', input: { script: { sleepMs: 60 } } })).taskId;
  const tasks = await Promise.all(Array.from({ length: 30 }, submit));
  const effects = () => p.deeds().filter(({ what, taskId }) => what === 'effect' && tasks.includes(taskId));
  await waitFor('a part of the effects', () => effects().length >= 20);
  expect(effects().length).toBeLessThan(tasks.length * 4);
  const killed = await killLeader('REPORTS', false);
  for (const taskId of tasks) expect((await client.result(taskId)).state).toBe('completed');
  expect(await leaderOf('REPORTS')).not.toBe(killed);
  expect(effects()).toHaveLength(tasks.length * 4);
  expect(await p.sql('SELECT FROM ledger.dead_letters')).toEqual([]);
  expect(await p.sql('SELECT FROM ledger.steps WHERE spent > 0')).toEqual([]);
  expect(await p.sql('SELECT * FROM ledger.unaccounted_tasks')).toEqual([]);
}, 240_000);

/** kill -9 of the server that leads the stream. It comes back with its store, unless it is to stay away. */
async function killLeader(stream: string, back = true): Promise<string> {
  const name = await waitFor('a leader', () => leaderOf(stream).catch(() => undefined));
  const leader = servers.find(({ port }) => name === `cleanslate-${port}`);
  if (leader === undefined) throw new Error(`no server is named ${name}`);
  await leader.kill();
  if (back) await leader.restart();
  return name;
}

async function startCluster(): Promise<NatsServer[]> {
  const dir = await mkdtemp(join(tmpdir(), 'cleanslate-cluster-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const routes = await Promise.all([0, 1, 2].map(() => findFreePort()));
  const users = toNatsServerConfig({
    principals: PRINCIPALS.map((principal) => ({ principal, password: PASSWORD })),
    roles: BUILT_IN_ROLES,
  });
  return await Promise.all(
    routes.map(async (port, n) => {
      const others = routes.map((each) => `"nats://127.0.0.1:${each}"`).join(', ');
      const cluster = `cluster {\n  name: "test"\n  listen: "127.0.0.1:${port}"\n  routes: [${others}]\n}\n`;
      return stack.use(await startNatsServer({ dir: join(dir, `n${n}`), config: `${cluster}${users}` }));
    }),
  );
}

function connectAs(principal: Principal): Promise<Bus> {
  return connectBus({ servers: urls, principal, password: PASSWORD, waitOnFirstConnectMs: 20_000 });
}
