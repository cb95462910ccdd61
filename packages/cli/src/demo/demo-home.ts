import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Home, toHome } from '../stack/home.ts';
import { type HomeLock, lockHome, requireHome } from '../stack/home-lock.ts';

export type DemoHome = { readonly home: Home; readonly lock: HomeLock; readonly kept: boolean };

/**
 * A fresh folder. It is kept afterwards for further looks; a second demo at the same time gets a folder of its own,
 * which is deleted at its end.
 */
export async function makeDemoHome(root: string): Promise<DemoHome> {
  const shared = toHome(join(root, 'demo'));
  const lock = await lockHome(shared);
  if (!('release' in lock)) {
    const own = toHome(join(root, `demo-${process.pid}`));
    return { home: own, lock: await requireHome(own), kept: false };
  }
  // The compile cache stays: it is what makes the second run quick.
  for (const path of [shared.nats, shared.database, shared.logs, shared.stackFile, shared.credentials])
    await rm(path, { recursive: true, force: true });
  return { home: shared, lock, kept: true };
}
