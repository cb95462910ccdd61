import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Child } from './child.ts';
import { LaunchError } from './launch-error.ts';
import type { PostgresRuntime } from './postgres-runtime.ts';
import { inheritedEnvironment } from './toolchain.ts';
import { settlesWithin } from './wait-until.ts';

export const SUPERUSER = 'postgres';
const INITDB_TIMEOUT_MS = 120_000;

/** Makes the cluster unless there is one, and returns the superuser's password, which is kept in `dir`. */
export async function ensureCluster(runtime: PostgresRuntime, dir: string, durable: boolean): Promise<string> {
  const password = await ensurePassword(dir);
  const data = join(runtime.hostFolder, 'data');
  if (existsSync(join(data, 'PG_VERSION'))) return password;
  // Made beside it and renamed, so that an interrupted initdb is not taken for a cluster.
  const draft = 'data.unfinished';
  await rm(join(runtime.hostFolder, draft), { recursive: true, force: true });
  await writeFile(join(runtime.hostFolder, 'password'), password, { mode: 0o644 });
  try {
    await runInitdb(runtime, draft, durable);
  } finally {
    await rm(join(runtime.hostFolder, 'password'));
  }
  await rename(join(runtime.hostFolder, draft), data);
  return password;
}

/** Kept from run to run: a cluster keeps the password it was made with. */
export async function ensurePassword(dir: string): Promise<string> {
  const file = join(dir, 'postgres-password');
  if (existsSync(file)) return readFile(file, 'utf8');
  const password = randomBytes(18).toString('base64url');
  await writeFile(file, password, { mode: 0o600 });
  return password;
}

async function runInitdb(runtime: PostgresRuntime, folderName: string, durable: boolean): Promise<void> {
  const args = [
    `--pgdata=${runtime.folder}/${folderName}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${runtime.folder}/password`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The same order of strings on every machine.
    '--locale=C.UTF-8',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  const initdb = await Child.start({ name: 'initdb', env: inheritedEnvironment(), ...runtime.command('initdb', args) });
  if (!(await settlesWithin(initdb.exited, INITDB_TIMEOUT_MS))) await initdb.kill();
  const { code } = await initdb.exited;
  if (code !== 0) throw new LaunchError('START_FAILED', `initdb failed (exit code ${code}).`, initdb.lines.last());
}
