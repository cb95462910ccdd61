import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRunFolder } from './run-folder.ts';

test('a run never gets the folder of another, also where its process id was used before; what killed runs left is swept', () => {
  const root = mkdtempSync(join(tmpdir(), 'run-folder-'));
  try {
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const left = join(root, `cleanslate-run-${ended}-abcdef`);
    const other = join(root, 'cleanslate-running');
    for (const folder of [left, other]) mkdirSync(folder);
    const [first, second] = [makeRunFolder(root), makeRunFolder(root)];
    expect(first).not.toBe(second);
    expect([first, second, other, left].map((folder) => existsSync(folder))).toEqual([true, true, true, false]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
