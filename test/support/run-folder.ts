import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'cleanslate-test-run-';

/** A folder named after this process, so that the next run can sweep those of runs that were killed. */
export function makeRunFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(PREFIX) && !isAlive(Number(name.slice(PREFIX.length)))) removeRunFolder(join(tmpdir(), name));
  }
  const folder = join(tmpdir(), `${PREFIX}${process.pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
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
