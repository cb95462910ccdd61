import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Env, json, slate, startSlate } from './slate.ts';

type Ref = { name: string; pid: number };
type StackFile = { supervisor: Ref; processes: Ref[]; natsUrl: string; databaseUrl: string };

let home: string;
let env: Env;
beforeEach(async () => {
  home = join(await mkdtemp(join(tmpdir(), 'slate-faults-')), 'new');
  env = { CLEANSLATE_HOME: home, NO_COLOR: '1' };
});
afterEach(async () => {
  await slate(['down'], env);
  await rm(join(home, '..'), { recursive: true, force: true });
});

/** A process that ended but that nobody waited for (no init in a container) still has its number. */
const isAlive = ({ pid }: Ref) => {
  try {
    process.kill(pid, 0);
    return !(existsSync('/proc/self/stat') && /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
  } catch {
    return false;
  }
};
const readStack = async () => JSON.parse(await readFile(join(home, 'stack.json'), 'utf8')) as StackFile;
const findPid = (stack: StackFile, name: string) => stack.processes.find((each) => each.name === name)?.pid ?? 0;

test('killed broker and database come back in place, and ready is said only once they have', {
  timeout: 300_000,
}, async () => {
  const before = json<StackFile>(await slate(['up', '--detach', '--json'], env));
  const killed = ['nats-server', 'database'].map((name) => ({ name, pid: findPid(before, name) }));
  for (const { pid } of killed) process.kill(pid, 'SIGKILL');
  await expect.poll(() => killed.filter(isAlive)).toEqual([]);

  const again = await slate(['up', '--detach', '--json'], env);
  expect(again.code, again.stdout + again.stderr).toBe(0);
  const after = json<StackFile>(again);
  expect(after).toMatchObject({
    natsUrl: before.natsUrl,
    databaseUrl: before.databaseUrl,
    supervisor: before.supervisor,
  });
  expect(after.processes.filter((each) => !isAlive(each))).toEqual([]);
  for (const { name, pid } of killed) expect(findPid(after, name), name).not.toBe(pid);
  expect(after.processes.map((each) => each.name).sort()).toEqual(before.processes.map((each) => each.name).sort());

  const log = await readFile(join(home, 'log', 'stack.log'), 'utf8');
  const upLog = await readFile(join(home, 'log', 'up.log'), 'utf8');
  for (const { name } of killed)
    for (const text of [log, upLog]) expect(text).toContain(`${name} ended (SIGKILL); it starts again in`);
  const ran = await slate(['submit', 'noop', '--wait', '--json'], env);
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(json<{ state: string }>(ran).state).toBe('completed');

  // Nobody is there to start it again: the doctor says what helps then.
  process.kill(after.supervisor.pid, 'SIGSTOP');
  try {
    const database = { name: 'database', pid: findPid(after, 'database') };
    process.kill(database.pid, 'SIGKILL');
    await expect.poll(() => isAlive(database)).toBe(false);
    const doctor = await slate(['doctor'], env);
    expect(doctor.code, doctor.stdout + doctor.stderr).toBe(3);
    expect(doctor.stdout).toContain('runs without database');
    expect(doctor.stdout).toContain('`slate down`, then `slate up --detach`');
    expect(doctor.stdout).not.toContain('DATABASE_URL');
  } finally {
    process.kill(after.supervisor.pid, 'SIGCONT');
  }
});

test('two `slate up --detach` at once in a new home: one stack, both say that it is ready', {
  timeout: 300_000,
}, async () => {
  const both = await Promise.all([1, 2].map(() => slate(['up', '--detach', '--json'], env)));
  for (const each of both) expect(each.code, each.stdout + each.stderr).toBe(0);
  const [one, other] = both.map((each) => json<StackFile>(each));
  expect(one?.supervisor).toEqual(other?.supervisor);
  expect(both.filter((each) => /a stack is starting here|is starting here/.test(each.stderr))).toHaveLength(1);

  const third = await slate(['up'], env);
  expect(third).toMatchObject({ code: 0, stdout: '' });
  expect(third.stderr).toContain('runs here already');
  expect((await slate(['down'], env)).stderr).toContain('stopped');
  expect([one?.supervisor, ...(one?.processes ?? [])].filter((each) => each && isAlive(each))).toEqual([]);
});

test('^C during `slate up --detach` stops what it started', { timeout: 300_000 }, async () => {
  const up = startSlate(['up', '--detach'], env);
  await expect.poll(() => existsSync(join(home, 'stack.json')), { timeout: 60_000, interval: 20 }).toBe(true);
  const stack = await readStack();
  up.kill('SIGINT');
  const ran = await up.ended;
  expect(ran.code, ran.stderr).toBe(130);
  expect(ran.stderr).toContain('stopping …');
  expect(isAlive(stack.supervisor)).toBe(false);
  expect((await readdir(home)).filter((name) => /^stack\./.test(name))).toEqual([]);
});

test.each<[name: string, value: string, says: string]>([
  ['NATS_URL', 'nats://127.0.0.1:9', 'BROKER_UNAVAILABLE'],
  ['DATABASE_URL', 'postgres://nobody@127.0.0.1:9/none', 'DATABASE_UNAVAILABLE'],
])('%s where nobody listens: exit 3, detached or not', { timeout: 300_000 }, async (name, value, says) => {
  for (const args of [['up'], ['up', '--detach']]) {
    const ran = await slate(args, { ...env, [name]: value });
    expect(ran.code, ran.stderr).toBe(3);
    expect(ran.stderr).toContain(says);
    expect(ran.stderr).toContain(name);
  }
});
