import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@cleanslate/client';
import { BUILT_IN_ROLES, toAppError } from '@cleanslate/contracts';
import { loadWorkflow } from '@cleanslate/domain';
import { type Platform, startPlatform, waitFor } from '@cleanslate/testing';
import { WORKFLOWS } from '@cleanslate/workflows';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { json, type Ran, slate } from './slate.ts';

// A broker that others run: the command line writes what its configuration includes, and says that it must be reloaded.

let platform: Platform;
let home: string;
let httpPort = 0;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'slate-tenants-'));
  platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['scheduler', 'gateway'],
    log: (_name, line) => {
      httpPort = Number(/"httpPort":(\d+)/.exec(line)?.[1] ?? httpPort);
    },
  });
  const services = [
    'scheduler',
    'knowledge-maintainer',
    'gateway',
    'admin',
    ...BUILT_IN_ROLES.map((role) => `worker-${role}`),
  ];
  const nats = Object.fromEntries(services.map((user) => [user, platform.broker.password]));
  await writeFile(join(home, 'credentials.json'), JSON.stringify({ nats, database: {}, apiKeys: {} }));
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ran> =>
  slate(args, {
    NATS_URL: platform.broker.url,
    DATABASE_URL: platform.database.adminUrl,
    CLEANSLATE_HOME: home,
    NO_COLOR: '1',
  });
async function ok<T>(...args: string[]): Promise<T> {
  const ran = await run(...args, '--json');
  expect(ran.code, ran.stderr).toBe(0);
  return json<T>(ran);
}
const reloadBroker = async () =>
  platform.broker.server.reload(await readFile(join(home, 'nats', 'nats-authorization.conf'), 'utf8'));
const gatewayUrl = () => `http://127.0.0.1:${httpPort}`;

type Added = { apiKey: string; natsUser: string; natsPassword: string; broker: string };

test('a tenant is added, works, gets new credentials, is suspended, resumed and deleted', {
  timeout: 180_000,
}, async () => {
  const added = await ok<Added>('tenant', 'add', 'initech');
  expect(added).toMatchObject({ natsUser: 'tenant-initech', broker: 'by-hand' });
  await reloadBroker();
  const login = { servers: platform.broker.url, tenant: 'initech' };
  await using client = await connect({ ...login, password: added.natsPassword });
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });

  const rotated = await ok<Added>('tenant', 'rotate', 'initech', '--keep-old', '1h');
  expect(rotated.apiKey).not.toBe(added.apiKey);
  await reloadBroker();
  await using renewed = await connect({ ...login, password: rotated.natsPassword });
  await expect(connect({ ...login, password: added.natsPassword, connectTimeoutMs: 500 })).rejects.toMatchObject({
    code: 'UNAUTHORIZED',
  });
  expect((await renewed.tasks()).tasks.map((task) => task.taskId)).toEqual([taskId]);

  expect(await ok('tenant', 'suspend', 'initech')).toEqual({ tenant: 'initech', state: 'suspended' });
  await expect(renewed.submit({ workflow: 'noop', input: {} })).rejects.toMatchObject({ code: 'TENANT_SUSPENDED' });
  await ok('tenant', 'resume', 'initech');
  await renewed.submit({ workflow: 'noop', input: {} });

  const active = await run('tenant', 'delete', 'initech', '--yes');
  expect(active.code).toBe(2);
  expect(active.stderr).toContain('suspend it first');
  await ok('tenant', 'suspend', 'initech');
  const busy = await run('tenant', 'delete', 'initech', '--yes');
  expect(busy.stderr).toContain('2 tasks of tenant "initech" are not finished');
  for (const task of (await renewed.tasks()).tasks) await renewed.cancel(task.taskId);
  const only = await run('tenant', 'delete', 'initech');
  expect(only.code).toBe(0);
  expect(only.stdout).toMatch(/would remove +2 {2}ledger.tasks/);
  await ok('tenant', 'delete', 'initech', '--yes');
  const { tenants } = await ok<{ tenants: { tenantId: string }[] }>('tenant', 'list');
  expect(tenants.map((each) => each.tenantId)).toEqual(['acme', 'globex']);
  await reloadBroker();
  await expect(connect({ ...login, password: rotated.natsPassword, connectTimeoutMs: 500 })).rejects.toMatchObject({
    code: 'UNAUTHORIZED',
  });
});

test('a key that was rotated is still good for the time given, then not', async () => {
  await ok('tenant', 'add', 'hooli');
  const { apiKey } = await ok<Added>('tenant', 'rotate', 'hooli');
  const status = async (key: string) =>
    (await fetch(`${gatewayUrl()}/v1/tasks`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await status(apiKey)).toBe(200);
  await ok<Added>('tenant', 'rotate', 'hooli', '--keep-old', '100ms');
  // The gateway keeps what it was told for some seconds.
  await waitFor('the old key refused', async () => (await status(apiKey)) === 401);
});

test('a role is added, shown again, listed and removed', async () => {
  const added = await ok<{ natsPassword: string }>('role', 'add', 'poet');
  const env = await run('role', 'add', 'poet', '--env');
  expect(env.stdout.trim().split('\n')).toEqual([
    `NATS_URL=${platform.broker.url}`,
    'NATS_USER=worker-poet',
    `NATS_PASSWORD=${added.natsPassword}`,
  ]);
  await reloadBroker();
  await using worker = await platform.broker.connect({ kind: 'admin' });
  expect(worker.connected).toBe(true);
  expect((await run('topology', 'diff')).stdout).toContain('as the catalogue says');
  expect((await run('role', 'list')).stdout).toMatch(/poet +added +0/);
  await platform.database.sql(`INSERT INTO ledger.workflows VALUES ('haiku', 'poet', 'h', '{}')`);
  expect(await ok('role', 'remove', 'poet')).toEqual({ role: 'poet', removed: true, workflows: ['haiku'] });
  expect((await run('role', 'list')).stdout).not.toContain('poet');
});

test('a workflow that workers brought is listed, and removed where no schedule starts it; its tasks stay', {
  timeout: 180_000,
}, async () => {
  const noop = WORKFLOWS.find(({ name }) => name === 'noop');
  const { planHash, plan } = loadWorkflow({ ...noop?.plan, workflow: 'sonnet' });
  await platform.database.sql(`INSERT INTO ledger.workflows VALUES ('sonnet', 'bard', $1, $2)`, [
    planHash,
    JSON.stringify(plan),
  ]);
  const { natsPassword: password } = await ok<Added>('tenant', 'add', 'globe-theatre');
  await reloadBroker();
  await using client = await connect({ servers: platform.broker.url, tenant: 'globe-theatre', password });
  // Schedulers look once a second.
  const takes = () =>
    client.submit({ workflow: 'sonnet', input: {} }).then(
      ({ taskId }) => taskId,
      (error: unknown) => toAppError(error).code,
    );
  const taskId = await waitFor('it can be submitted', async () => {
    const said = await takes();
    return said === 'UNKNOWN_WORKFLOW' ? undefined : said;
  });
  const { workflows } = await ok<{ workflows: readonly object[] }>('workflow', 'list');
  expect(workflows).toContainEqual(expect.objectContaining({ workflow: 'contract-review', builtIn: true, steps: 4 }));
  expect(workflows).toContainEqual(
    expect.objectContaining({ workflow: 'sonnet', builtIn: false, role: 'bard', unfinishedTasks: 1, schedules: 0 }),
  );
  expect((await run('workflow', 'list')).stdout).toMatch(/sonnet +role bard +4 +1 +0 /);

  await client.schedules.put({ scheduleId: 'weekly', workflow: 'sonnet', input: {}, cron: '0 0 * * 0' });
  const scheduled = await run('workflow', 'remove', 'sonnet');
  expect([scheduled.code, scheduled.stderr]).toEqual([2, expect.stringContaining('1 schedule starts "sonnet"')]);
  await client.schedules.delete('weekly');
  expect(await ok('workflow', 'remove', 'sonnet')).toEqual({
    workflow: 'sonnet',
    role: 'bard',
    removed: true,
    workers: 0,
  });
  await waitFor('it can no longer be submitted', async () => (await takes()) === 'UNKNOWN_WORKFLOW');
  expect((await client.tasks({ state: 'failed' })).tasks.map((task) => task.taskId)).not.toContain(taskId);
  expect((await client.task(taskId)).workflow).toBe('sonnet');
});

test.each([
  [['tenant', 'add', 'A.b'], /can't be the id of a tenant/],
  [['tenant', 'add', 'acme'], /there already/],
  [['tenant', 'rotate', 'nobody'], /not registered/],
  [['tenant', 'suspend', 'nobody'], /not registered(?:.|\n)*to do: .*slate tenant list/],
  [['tenant', 'delete', 'nobody', '--yes'], /not registered(?:.|\n)*to do: .*slate tenant list/],
  [['tenant', 'limits', 'nobody'], /not registered(?:.|\n)*to do: .*slate tenant list/],
  [['role', 'add', 'x.*'], /can't be the id of a role/],
  [['role', 'add', 'gateway'], /a part of the platform/],
  [['role', 'add', 'migrate'], /a part of the platform/],
  [['role', 'remove', 'analyzer'], /built in/],
  [['role', 'remove', 'nobody'], /there is no role/],
  [['workflow', 'remove', 'noop'], /built in/],
  [['workflow', 'remove', 'nothing'], /there is no workflow "nothing"/],
])('slate %j says what is wrong', async (args, message) => {
  const ran = await run(...args);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(message);
});

test('two commands at once keep both changes', async () => {
  await Promise.all(['one', 'two', 'three'].map((tenant) => ok('tenant', 'add', tenant)));
  const { apiKeys } = JSON.parse(await readFile(join(home, 'credentials.json'), 'utf8')) as { apiKeys: object };
  expect(Object.keys(apiKeys)).toEqual(expect.arrayContaining(['one', 'two', 'three']));
});
