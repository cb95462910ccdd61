import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildOnce, cacheFolder } from './cache.mjs';

let folder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cache-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function findDeadPid() {
  const process = spawn('true');
  await once(process, 'exit');
  return process.pid;
}

test('the folder is the explicit one, then that of the XDG convention, then the home', () => {
  expect(cacheFolder({ CLEANSLATE_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
  expect(cacheFolder({ XDG_CACHE_HOME: '/b' })).toBe('/b/cleanslate');
  expect(cacheFolder({})).toMatch(/\/\.cache\/cleanslate$/);
});

test('set-ups side by side build once and share the result', async () => {
  const target = join(folder, 'tool');
  let builds = 0;
  const build = async (unfinished) => {
    builds += 1;
    await new Promise((resolve) => setTimeout(resolve, 100));
    await writeFile(join(unfinished, 'program'), 'complete');
  };
  await Promise.all([buildOnce(target, build), buildOnce(target, build), buildOnce(target, build)]);
  expect(builds).toBe(1);
  expect(await readFile(join(target, 'program'), 'utf8')).toBe('complete');
  expect(await readdir(folder)).toEqual(['tool']);
});

test('a failed build leaves nothing and the next one succeeds', async () => {
  const target = join(folder, 'tool');
  const fail = async (unfinished) => {
    await writeFile(join(unfinished, 'program'), 'half');
    throw new Error('network is down');
  };
  await expect(buildOnce(target, fail)).rejects.toThrow('network is down');
  expect(await readdir(folder)).toEqual([]);
  await buildOnce(target, (unfinished) => writeFile(join(unfinished, 'program'), 'complete'));
  expect(existsSync(join(target, 'program'))).toBe(true);
});

test('what a killed set-up left, lock and half-made folder, is taken over and swept', async () => {
  const target = join(folder, 'tool');
  const dead = await findDeadPid();
  await writeFile(`${target}.lock`, String(dead));
  await mkdir(`${target}.unfinished-${dead}`);
  await writeFile(join(`${target}.unfinished-${dead}`, 'program'), 'half');
  await buildOnce(target, (unfinished) => writeFile(join(unfinished, 'program'), 'complete'));
  expect(await readFile(join(target, 'program'), 'utf8')).toBe('complete');
  expect(await readdir(folder)).toEqual(['tool']);
});
