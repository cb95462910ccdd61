import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'cleanslate-run-';

/**
 * A folder of this process, so that the next run can sweep those of runs that were killed. Its name is never used
 * again: process ids are, soon in a small container, and the database of a run is found by the name of its folder.
 */
export function makeRunFolder(root = tmpdir()): string {
  for (const name of readdirSync(root)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) removeRunFolder(join(root, name));
  }
  return mkdtempSync(join(root, `${PREFIX}${process.pid}-`));
}

export function removeRunFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
