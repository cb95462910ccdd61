import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Env, json, slate } from './slate.ts';

let home: string;
let env: Env;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'slate-restored-'));
  env = { CLEANSLATE_HOME: home, NO_COLOR: '1' };
});
afterAll(async () => {
  await slate(['down'], env);
  await rm(home, { recursive: true, force: true });
});

const done = async (...args: string[]) => {
  const ran = await slate(args, env);
  expect(ran.code, `slate ${args.join(' ')}: ${ran.stderr}`).toBe(0);
  return ran;
};
const finishNoop = async () => json<{ taskId: string }>(await done('submit', 'noop', '--wait', '--json')).taskId;

test('a stack whose database was put back refuses to start, is mended while it is down, and goes on', {
  timeout: 300_000,
}, async () => {
  const database = join(home, 'database');
  const backup = join(home, 'backup');
  await done('up', '--detach');
  const kept = await finishNoop();
  await done('down');
  await cp(database, backup, { recursive: true });
  await done('up', '--detach');
  const lost = await finishNoop();
  await done('down');
  await rm(database, { recursive: true });
  await cp(backup, database, { recursive: true });

  const refused = await slate(['up', '--detach'], env);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('slate doctor --after-restore');

  const report = json<{ epoch: number; tasks: unknown[] }>(await done('doctor', '--after-restore', '--json'));
  expect(report.epoch).toBe(2);
  expect(report.tasks).toEqual([{ task: `demo/${lost}`, seen: 'completed', database: null }]);

  await done('up', '--detach');
  const after = await finishNoop();
  const listed = json<{ tasks: { taskId: string; state: string }[] }>(await done('task', 'list', '--json'));
  expect(listed.tasks.map(({ taskId, state }) => [taskId, state])).toEqual([
    [after, 'completed'],
    [kept, 'completed'],
  ]);
});
