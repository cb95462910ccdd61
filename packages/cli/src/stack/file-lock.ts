import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { inputError } from '../input-error.ts';

/** Whoever has held it this long has died: it is held for one read and one write. */
const STALE_MS = 10_000;
const GIVE_UP_MS = 15_000;

/**
 * A lock between commands, as a file that only one of them can create; released when disposed of. Throws
 * `CONFIGURATION`.
 */
export async function lockFile(path: string): Promise<AsyncDisposable> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (;;) {
    try {
      await (await open(path, 'wx', 0o600)).close();
      return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    } catch (error) {
      if (!isTaken(error) || performance.now() > giveUpAt) throw error;
      if (await isStale(path)) await rm(path, { force: true });
      else await sleep(50);
    }
  }
}

function isTaken(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return true;
  throw inputError({
    code: 'CONFIGURATION',
    what: error instanceof Error ? error.message : String(error),
    where: 'CLEANSLATE_HOME',
    remedy: 'name a folder that you may write to',
  });
}

async function isStale(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > STALE_MS;
}
