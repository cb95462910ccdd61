import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStackLog } from './log-file.ts';

// Every write to /dev/full fails as on a full disk.
test.skipIf(!existsSync('/dev/full'))('a full disk takes lines only as long as it is full', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'log-'));
  const file = join(dir, 'stack.log');
  await symlink('/dev/full', file);
  const log = await openStackLog(file);
  const write = log.of('slate up');
  write('lost');
  await rm(file);
  // The stream fails when it likes to; the lines after that are kept.
  await expect
    .poll(async () => {
      write('kept');
      return await readFile(file, 'utf8').catch(() => '');
    })
    .toContain('"msg":"kept"');
  await log.close();
  expect(await readFile(file, 'utf8')).not.toContain('lost');
  await rm(dir, { recursive: true });
});
