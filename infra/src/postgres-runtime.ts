import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildOptions } from './child.ts';
import { LaunchError } from './launch-error.ts';
import { isRunning } from './process-tree.ts';
import type { PostgresChoice } from './toolchain.ts';

/** How to run one of PostgreSQL's programs for one cluster. */
export interface PostgresRuntime {
  /** The cluster's folder as this process sees it. */
  readonly hostFolder: string;
  /** The same folder as PostgreSQL sees it. */
  readonly folder: string;
  readonly command: (
    program: 'initdb' | 'postgres',
    args: readonly string[],
  ) => Pick<ChildOptions, 'program' | 'args' | 'uid' | 'gid'>;
}

type LocalChoice = Extract<PostgresChoice, { kind: 'rootfs' | 'binary' }>;

/** Makes the folder of the cluster that belongs to `dir`, owned by the user that PostgreSQL will run as. */
export async function preparePostgresRuntime(choice: LocalChoice, dir: string): Promise<PostgresRuntime> {
  await mkdir(dir, { recursive: true });
  return choice.kind === 'rootfs' ? prepareRootfs(choice, dir) : prepareBinary(choice, dir);
}

/**
 * Inside a root filesystem the cluster has to lie within it (a bind mount would need more rights than chroot does).
 * It is found again by a hash of `dir`, and swept once `dir` is gone.
 */
async function prepareRootfs(choice: Extract<LocalChoice, { kind: 'rootfs' }>, dir: string): Promise<PostgresRuntime> {
  if (!existsSync(choice.root)) {
    throw new LaunchError('TOOLCHAIN_MISSING', `${choice.root} is gone. Run \`npm run setup\`.`);
  }
  const clusters = join(choice.root, 'var', 'lib', 'cleanslate');
  await mkdir(clusters, { recursive: true });
  await sweepClusters(clusters);
  const id = createHash('sha256').update(dir).digest('hex').slice(0, 24);
  const hostFolder = join(clusters, id);
  await mkdir(hostFolder, { recursive: true, mode: 0o700 });
  await writeFile(join(hostFolder, OWNER_FILE), dir);
  const user = findUser(join(choice.root, 'etc', 'passwd'), 'postgres');
  if (user === undefined)
    throw new LaunchError(
      'TOOLCHAIN_MISSING',
      `${choice.root} has no user postgres. Delete it and run \`npm run setup\`.`,
    );
  await chown(hostFolder, user.uid, user.gid);
  return {
    hostFolder,
    folder: `/var/lib/cleanslate/${id}`,
    command: (program, args) => ({
      program: 'chroot',
      args: [`--userspec=${user.uid}:${user.gid}`, choice.root, `${choice.bin}/${program}`, ...args],
    }),
  };
}

async function prepareBinary(choice: Extract<LocalChoice, { kind: 'binary' }>, dir: string): Promise<PostgresRuntime> {
  const hostFolder = join(dir, 'postgres');
  await mkdir(hostFolder, { recursive: true, mode: 0o700 });
  const runsAsRoot = process.getuid?.() === 0;
  const user = runsAsRoot ? (findUser('/etc/passwd', 'postgres') ?? findUser('/etc/passwd', 'nobody')) : undefined;
  if (runsAsRoot && user === undefined)
    throw new LaunchError('START_FAILED', 'PostgreSQL refuses to run as root and there is no user postgres.');
  if (user) {
    await chown(hostFolder, user.uid, user.gid);
    // A folder from mkdtemp lets nobody through but root.
    await chmod(dir, 0o711);
  }
  return {
    hostFolder,
    folder: hostFolder,
    command: (program, args) => ({
      program: join(choice.bin, program),
      args: [...args],
      uid: user?.uid,
      gid: user?.gid,
    }),
  };
}

const OWNER_FILE = 'owner';

async function sweepClusters(clusters: string): Promise<void> {
  for (const name of readdirSync(clusters)) {
    const folder = join(clusters, name);
    const owner = readIfThere(join(folder, OWNER_FILE));
    // Empty: it is being written at this moment.
    if (owner === undefined || owner === '' || existsSync(owner)) continue;
    const postmaster = Number.parseInt(readIfThere(join(folder, 'data', 'postmaster.pid')) ?? '', 10);
    if (postmaster > 0 && isRunning(postmaster)) continue;
    await rm(folder, { recursive: true, force: true });
  }
}

function findUser(passwdFile: string, name: string): { uid: number; gid: number } | undefined {
  const line = readIfThere(passwdFile)
    ?.split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
