import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseJson } from '@cleanslate/contracts';
import { z } from 'zod';
import { inputError } from '../input-error.ts';
import type { Home } from './home.ts';
import { isSameProcess, toIdentity } from './process-identity.ts';

const Owner = z.object({ pid: z.int().positive(), startedAt: z.string() });
type Owner = z.infer<typeof Owner>;

/** Held from before anything opens until everything has ended. */
export type HomeLock = { release(): Promise<void> };

/**
 * Takes a home for one stack; if a living process has it, returns that pid. A dead owner's lock is taken over, and so
 * is our parent's: `slate up --detach` holds it until the `slate up` it started has it.
 */
export async function lockHome({ lock }: Home): Promise<HomeLock | { readonly ownerPid: number }> {
  await mkdir(dirname(lock), { recursive: true });
  const self = toIdentity(process.pid);
  // Written in full beside it and then linked: a lock is never seen without its owner in it.
  const draft = `${lock}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(self), { mode: 0o600 });
  try {
    const owner = await take(lock, draft);
    return owner ? { ownerPid: owner.pid } : { release: () => release(lock, self) };
  } finally {
    await rm(draft, { force: true });
  }
}

/** Returns the living owner, or nothing once it is ours. */
async function take(lock: string, draft: string): Promise<Owner | undefined> {
  for (;;) {
    if (await tryLink(draft, lock)) return undefined;
    const owner = await readOwner(lock);
    if (owner?.pid === process.ppid && isSameProcess(owner)) return await replace(lock, draft);
    if (owner !== undefined && isSameProcess(owner)) return owner;
    // Only one process may replace a dead owner, and looks again first: of two that both saw it dead, the later would
    // otherwise replace the earlier.
    const heir = `${lock}.heir`;
    if ((await take(heir, draft)) !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      continue;
    }
    try {
      const now = await readOwner(lock);
      const isFree = now === undefined || !isSameProcess(now);
      if (isFree && existsSync(lock)) return await replace(lock, draft);
    } finally {
      await rm(heir, { force: true });
    }
  }
}

async function replace(lock: string, draft: string): Promise<undefined> {
  const copy = `${lock}.${randomUUID()}`;
  await link(draft, copy);
  await rename(copy, lock);
}

/** Like `lockHome`, for callers who can't go on without it. */
export async function requireHome(home: Home): Promise<HomeLock> {
  const lock = await lockHome(home);
  if ('release' in lock) return lock;
  throw inputError({
    code: 'CONFIGURATION',
    what: `a stack runs or is starting here (process ${lock.ownerPid})`,
    where: home.root,
    remedy: 'use that one, `slate down` stops it; or name another folder with CLEANSLATE_HOME',
  });
}

/** The living process that has this home. */
export async function findOwner({ lock }: Home): Promise<number | undefined> {
  const owner = await readOwner(lock);
  return owner && isSameProcess(owner) ? owner.pid : undefined;
}

async function tryLink(draft: string, lock: string): Promise<boolean> {
  try {
    await link(draft, lock);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function readOwner(lock: string): Promise<Owner | undefined> {
  try {
    return Owner.parse(parseJson(await readFile(lock), lock));
  } catch {
    // Gone meanwhile, or not ours.
    return undefined;
  }
}

/** Not if another process has taken it over: the one we started, for example. */
async function release(lock: string, self: Owner): Promise<void> {
  const owner = await readOwner(lock);
  if (owner?.pid === self.pid && owner.startedAt === self.startedAt) await rm(lock, { force: true });
}
