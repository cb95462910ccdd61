import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Child } from './child.ts';
import { inheritedEnvironment } from './toolchain.ts';

test('what it prints is in its log file; a folder that is gone by then ends nobody', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'child-'));
  const logFile = join(dir, 'child.log');
  const script = 'trap "echo late; exit 0" TERM; echo early; while true; do sleep 0.05; done';
  const child = await Child.start({
    name: 'child',
    program: '/bin/sh',
    args: ['-c', script],
    env: inheritedEnvironment(),
    logFile,
  });
  await expect.poll(() => child.lines.last()).toEqual(['early']);
  expect(await readFile(logFile, 'utf8')).toBe('early\n');
  await rm(dir, { recursive: true });
  await child.stop(30_000);
  // An error that nobody listens to is an uncaught exception, which fails this test by itself.
  await expect.poll(() => child.lines.last()).toEqual(['early', 'late']);
});

// Every write to it fails as on a full disk.
test.skipIf(!existsSync('/dev/full'))('a full disk takes its log, and ends neither it nor us', async () => {
  const child = await Child.start({
    name: 'child',
    program: '/bin/sh',
    args: ['-c', 'echo one; echo two'],
    env: inheritedEnvironment(),
    logFile: '/dev/full',
  });
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.lines.last()).toEqual(['one', 'two']);
});
