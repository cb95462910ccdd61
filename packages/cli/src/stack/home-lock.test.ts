import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toHome } from './home.ts';
import { findOwner, lockHome, requireHome } from './home-lock.ts';
import { toIdentity } from './process-identity.ts';

let home: ReturnType<typeof toHome>;
beforeEach(async () => {
  home = toHome(join(await mkdtemp(join(tmpdir(), 'slate-lock-')), 'new'));
});
afterEach(() => rm(join(home.root, '..'), { recursive: true, force: true }));

test('of many at the same moment in a new home one has it, the others learn whose it is', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => lockHome(home)));
  const winners = all.filter((each) => 'release' in each);
  expect(winners).toHaveLength(1);
  expect(all.filter((each) => 'ownerPid' in each && each.ownerPid === process.pid)).toHaveLength(19);
  await expect(requireHome(home)).rejects.toThrow(`process ${process.pid}`);
  expect(await findOwner(home)).toBe(process.pid);
  for (const winner of winners) if ('release' in winner) await winner.release();
  expect(await readdir(home.root)).toEqual([]);
});

test.each<[name: string, text: () => string]>([
  ['a dead owner', () => JSON.stringify({ pid: spawnSync('true').pid, startedAt: '1' })],
  [
    'an owner whose number is another process by now',
    () => JSON.stringify({ pid: process.pid, startedAt: 'long ago' }),
  ],
  ['nothing legible', () => '{'],
])('the lock of %s is taken over, by one', async (_name, text) => {
  await (await requireHome(home)).release();
  await writeFile(home.lock, text());
  expect(await findOwner(home)).toBeUndefined();
  const all = await Promise.all(Array.from({ length: 20 }, () => lockHome(home)));
  expect(all.filter((each) => 'release' in each)).toHaveLength(1);
});

test('a lock that has gone to another is not given back by its former owner', async () => {
  const lock = await requireHome(home);
  await writeFile(home.lock, JSON.stringify({ ...toIdentity(process.ppid), startedAt: 'later' }));
  await lock.release();
  expect(existsSync(home.lock)).toBe(true);
});

test('a process takes over what its parent holds for it', async () => {
  await (await requireHome(home)).release();
  await writeFile(home.lock, JSON.stringify(toIdentity(process.ppid)));
  await requireHome(home);
  expect(await findOwner(home)).toBe(process.pid);
});
