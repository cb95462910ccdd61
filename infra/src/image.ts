import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkoutRoot } from './toolchain.ts';

const BUILD_MS = 120_000;

/**
 * Lays out in an empty folder what the container image holds, as the Dockerfile does it: `dist` with a bundle for each
 * service, `migrations`. Takes some seconds.
 */
export async function layOutImage(folder: string): Promise<{ readonly dist: string }> {
  const dist = join(folder, 'dist');
  await mkdir(dist, { recursive: true });
  await promisify(execFile)(
    process.execPath,
    [
      join(checkoutRoot, 'infra/node_modules/tsdown/dist/run.mjs'),
      '--config',
      join(checkoutRoot, 'infra/image/tsdown.config.ts'),
    ],
    { env: { ...process.env, IMAGE_DIST: dist }, timeout: BUILD_MS },
  );
  await copyFile(join(checkoutRoot, 'infra/image/run.mjs'), join(dist, 'run.mjs'));
  await symlink(join(checkoutRoot, 'packages/store/migrations'), join(folder, 'migrations'));
  return { dist };
}
