import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from './command.mjs';
import { SetupError, say } from './say.mjs';

const LOCK_WAIT_MS = 15 * 60_000;

/** The folder outside the checkout that holds what was provisioned, shared by all checkouts of a user. */
export function cacheFolder(env = process.env) {
  if (env.CLEANSLATE_CACHE) return env.CLEANSLATE_CACHE;
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cleanslate');
}

/**
 * Returns `target`, building it first if it is not there. `build(folder)` fills a folder beside it that is renamed
 * into place only when complete, so an interrupted run leaves nothing that a later one trusts; a lock makes a second
 * set-up wait for the first one's result instead of building its own.
 */
export async function buildOnce(target, build) {
  if (existsSync(target)) return target;
  return withLock(`${target}.lock`, async () => {
    if (existsSync(target)) return target;
    await sweepUnfinished(target);
    const unfinished = `${target}.unfinished-${process.pid}`;
    await mkdir(unfinished, { recursive: true });
    try {
      await build(unfinished);
      await rename(unfinished, target);
    } catch (error) {
      await removeTree(unfinished);
      throw error;
    }
    return target;
  });
}

/** Runs `body` while holding a lock file; a lock whose owner is dead is taken over. */
export async function withLock(lockFile, body) {
  await mkdir(dirname(lockFile), { recursive: true });
  const giveUpAt = Date.now() + LOCK_WAIT_MS;
  let told = false;
  while (!(await tryLock(lockFile))) {
    if (Date.now() > giveUpAt) {
      throw new SetupError(`Another set-up has held ${lockFile} for too long.`, {
        Everywhere: `if no other set-up is running, delete ${lockFile} and try again`,
      });
    }
    if (!told) say(`waiting for another set-up that holds ${lockFile}`);
    told = true;
    await sleep(250);
  }
  try {
    return await body();
  } finally {
    await rm(lockFile, { force: true });
  }
}

async function tryLock(lockFile) {
  // Written in full beside it and then linked: a lock file is never seen without its owner's pid in it.
  const draft = `${lockFile}.${randomUUID()}`;
  await writeFile(draft, String(process.pid));
  try {
    await link(draft, lockFile);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    await breakDeadLock(lockFile);
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

async function breakDeadLock(lockFile) {
  const owner = Number(await readFile(lockFile, 'utf8').catch(() => ''));
  if (!owner || isAlive(owner)) return;
  // Renamed, not removed: of two waiters that see the dead owner only one moves the file, and what it moved is
  // looked at again, so that a lock taken in between is put back.
  const grave = `${lockFile}.dead-${process.pid}`;
  try {
    await rename(lockFile, grave);
  } catch {
    return;
  }
  const moved = Number(await readFile(grave, 'utf8').catch(() => ''));
  if (moved !== owner) await link(grave, lockFile).catch(() => {});
  await rm(grave, { force: true });
}

async function sweepUnfinished(target) {
  const prefix = `${basename(target)}.unfinished-`;
  for (const name of await readdir(dirname(target))) {
    if (!name.startsWith(prefix) || isAlive(Number(name.slice(prefix.length)))) continue;
    await removeTree(join(dirname(target), name));
  }
}

async function removeTree(folder) {
  // Not fs.rm: a root filesystem cut short may still have /sys or /dev of this machine mounted inside.
  const removal = { deadlineMs: 120_000, isCleanup: true };
  const removed = await runCommand('rm', ['-rf', '--one-file-system', folder], removal);
  // macOS spells it differently.
  if (!removed.ok) await runCommand('rm', ['-rfx', folder], removal);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
