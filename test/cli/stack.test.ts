import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Env, json, slate } from './slate.ts';

type StackFile = {
  supervisor: { pid: number };
  processes: { name: string; pid: number }[];
  natsUrl: string;
  gatewayUrl: string;
};

let home: string;
let env: Env;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'slate-stack-'));
  env = { CLEANSLATE_HOME: home, NO_COLOR: '1' };
});
afterAll(async () => {
  await slate(['down'], env);
  await rm(home, { recursive: true, force: true });
});

/** A process that ended but that nobody waited for (no init in a container) still has its number. */
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !(existsSync('/proc/self/stat') && /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
  } catch {
    return false;
  }
};
const readStack = async () => JSON.parse(await readFile(join(home, 'stack.json'), 'utf8')) as StackFile;

test('up --detach, a second up, a task, a killed service, doctor, down: and nothing is left running', {
  timeout: 300_000,
}, async () => {
  const up = await slate(['up', '--detach', '--json'], env);
  expect(up.code, up.stderr).toBe(0);
  const stack = json<StackFile>(up);
  expect(stack.processes.map((each) => each.name).sort()).toEqual(
    [
      'nats-server',
      'database',
      'scheduler',
      'knowledge-maintainer',
      'gateway',
      'planner',
      'retriever',
      'analyzer',
      'generator',
      'validator',
    ].sort(),
  );
  for (const file of ['credentials.json', 'stack.json', 'nats/nats-authorization.conf'])
    expect((await stat(join(home, file))).mode & 0o077).toBe(0);

  const again = await slate(['up', '--detach'], env);
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toContain('runs here already');
  expect((await readStack()).supervisor.pid).toBe(stack.supervisor.pid);

  const { apiKeys } = JSON.parse(await readFile(join(home, 'credentials.json'), 'utf8')) as {
    apiKeys: Record<string, string>;
  };
  const listed = await fetch(`${stack.gatewayUrl}/v1/tasks`, {
    headers: { authorization: `Bearer ${apiKeys['demo']}` },
  });
  expect(await listed.json()).toEqual({ tasks: [], next: null });

  const analyzer = stack.processes.find((each) => each.name === 'analyzer');
  process.kill(analyzer?.pid ?? 0, 'SIGKILL');
  const contract = join(checkoutRoot, 'infra', 'samples', 'contract-zh.md');
  expect((await slate(['submit', 'contract-review', '--input', contract, '--wait'], env)).code).toBe(0);
  await expect
    .poll(async () => (await readStack()).processes.find((each) => each.name === 'analyzer')?.pid)
    .not.toBe(analyzer?.pid);

  const unknown = await slate(['submit', 'contract-review', '--input', contract, '--tenant', 'nobody'], env);
  expect(unknown.code, unknown.stderr).toBe(2);
  expect(unknown.stderr).toContain('there is demo');

  const doctor = await slate(['doctor'], env);
  expect(doctor.code, doctor.stderr).toBe(0);
  expect(doctor.stdout).toContain('database roles are not enforced here');

  const last = await readStack();
  expect((await slate(['down'], env)).code).toBe(0);
  expect([last.supervisor, ...last.processes].filter((each) => isAlive(each.pid))).toEqual([]);
  expect((await slate(['down'], env)).stderr).toContain('no stack runs here');
});

test('a stack.json whose process is gone is recognised, and its number never signalled', async () => {
  // Of its own: what the other test left must stay findable.
  const home = await mkdtemp(join(tmpdir(), 'slate-stale-'));
  const env = { CLEANSLATE_HOME: home, NO_COLOR: '1' };
  const self = { name: 'slate up', pid: process.pid, startedAt: 'long ago' };
  const file = {
    state: 'ready',
    startedAt: '2026-01-01T00:00:00.000Z',
    supervisor: self,
    processes: [self],
    natsUrl: 'nats://127.0.0.1:9',
  };
  const write = () =>
    writeFile(
      join(home, 'stack.json'),
      JSON.stringify({ ...file, databaseUrl: 'postgres://x', database: 'embedded', health: {}, logFile: 'x' }),
    );
  await write();
  const listed = await slate(['task', 'list'], env);
  expect(listed.code, listed.stderr).toBe(3);
  expect(listed.stderr).toContain('is gone');
  const down = await slate(['down'], env);
  expect(down).toMatchObject({ code: 0 });
  expect(down.stderr).toContain('gone already');
  await writeFile(join(home, 'stack.json'), '{');
  const damaged = await slate(['task', 'list'], env);
  expect(damaged.code, damaged.stderr).toBe(2);
  expect(damaged.stderr).toContain('delete it');
  await rm(home, { recursive: true });
});
