import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Child, type ChildOptions } from './child.ts';
import { dockerContainer } from './docker-container.ts';
import { findFreePort } from './free-port.ts';
import { LaunchError } from './launch-error.ts';
import { createPostgresAdmin, type PostgresAdmin, runStatement } from './postgres-admin.ts';
import { ensureCluster, ensurePassword, SUPERUSER } from './postgres-cluster.ts';
import { preparePostgresRuntime } from './postgres-runtime.ts';
import { postgresArguments } from './postgres-settings.ts';
import { type ServerControl, ServerProcess, startOnFreePort } from './server-process.ts';
import { inheritedEnvironment, type PostgresChoice, readToolchain } from './toolchain.ts';

export interface PostgresOptions {
  /** Names the cluster: the same folder finds the same data again. */
  readonly dir: string;
  /** Default: a free one. */
  readonly port?: number;
  /** False: no fsync and no TimescaleDB background workers, for tests. Default true. */
  readonly durable?: boolean;
  readonly signal?: AbortSignal;
  /** Called with every line the server prints. */
  readonly log?: (line: string) => void;
  /** Default: DATABASE_URL if set, else what the set-up chose. */
  readonly choice?: PostgresChoice;
}

export interface PostgresServer extends ServerControl, PostgresAdmin {
  /** False for the embedded database, whose clients are all one superuser session. */
  readonly enforcesRoles: boolean;
}

const START_TIMEOUT_MS = 60_000;

/**
 * Starts PostgreSQL with TimescaleDB and pgvector on loopback with password authentication, or hands out the server
 * that DATABASE_URL names (which can't be stopped, killed or suspended). Throws `LaunchError` with its last lines.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const choice = options.choice ?? findChoice();
  if (choice.kind === 'url') return useRunningServer(requireDatabaseUrl());
  await mkdir(options.dir, { recursive: true });
  return startOnFreePort(options.port, findFreePort, (port) => startOnPort(options, choice, port));
}

async function startOnPort(
  options: PostgresOptions,
  choice: Exclude<PostgresChoice, { kind: 'url' }>,
  port: number,
): Promise<PostgresServer> {
  const { password, child } =
    choice.kind === 'docker' ? await planContainer(options, choice, port) : await planLocal(options, choice, port);
  const adminUrl = `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
  const server = await ServerProcess.start({
    name: `PostgreSQL on port ${port}`,
    timeoutMs: START_TIMEOUT_MS,
    graceMs: 20_000,
    signal: options.signal,
    start: async () =>
      Child.start({
        ...child(),
        name: 'postgres',
        env: inheritedEnvironment(),
        // "Fast": ends the sessions. SIGTERM would wait until the clients leave.
        stopSignal: 'SIGINT',
        log: options.log,
        logFile: join(options.dir, 'postgres.log'),
      }),
    isReady: async () => {
      await runStatement(adminUrl, 'SELECT 1');
      return true;
    },
  });
  return Object.assign(server, createPostgresAdmin(adminUrl), { enforcesRoles: true });
}

interface Plan {
  readonly password: string;
  readonly child: () => Pick<ChildOptions, 'program' | 'args' | 'uid' | 'gid' | 'remote'>;
}

async function planLocal(
  options: PostgresOptions,
  choice: Extract<PostgresChoice, { kind: 'rootfs' | 'binary' }>,
  port: number,
): Promise<Plan> {
  const durable = options.durable ?? true;
  const runtime = await preparePostgresRuntime(choice, options.dir);
  const password = await ensureCluster(runtime, options.dir, durable);
  const args = postgresArguments({ port, durable, host: '127.0.0.1', dataFolder: `${runtime.folder}/data` });
  return { password, child: () => runtime.command('postgres', args) };
}

async function planContainer(
  options: PostgresOptions,
  choice: Extract<PostgresChoice, { kind: 'docker' }>,
  port: number,
): Promise<Plan> {
  const password = await ensurePassword(options.dir);
  const dataFolder = '/home/postgres/pgdata/data';
  // A volume, not a folder: the image's user could not write to a folder of ours.
  const volume = `cleanslate-${createHash('sha256').update(options.dir).digest('hex').slice(0, 24)}`;
  const args = postgresArguments({ port: 5432, durable: options.durable ?? true, host: '*', dataFolder });
  const plan = {
    image: choice.image,
    ports: [[port, 5432]] as const,
    mounts: [[volume, '/home/postgres/pgdata']] as const,
    env: { POSTGRES_PASSWORD: password, PGDATA: dataFolder },
    command: ['postgres', ...args],
  };
  return { password, child: () => dockerContainer(plan) };
}

function findChoice(): PostgresChoice {
  if (process.env['DATABASE_URL']) return { kind: 'url', why: 'DATABASE_URL is set' };
  const { postgres } = readToolchain();
  if (postgres === undefined) {
    throw new LaunchError(
      'TOOLCHAIN_MISSING',
      'No PostgreSQL with TimescaleDB was provisioned. Run `npm run setup`, or set DATABASE_URL.',
    );
  }
  return postgres;
}

function requireDatabaseUrl(): string {
  const url = process.env['DATABASE_URL'];
  if (url) return url;
  throw new LaunchError(
    'TOOLCHAIN_MISSING',
    'The set-up chose the server in DATABASE_URL, which is no longer set. Set it, or run `npm run setup`.',
  );
}

function useRunningServer(url: string): PostgresServer {
  const refuse = (): never => {
    throw new LaunchError(
      'NOT_OURS',
      'DATABASE_URL names a server that this process did not start, so it can not be killed, restarted or suspended.',
    );
  };
  return {
    ...createPostgresAdmin(url),
    enforcesRoles: true,
    get pid() {
      return refuse();
    },
    // Its end is nothing that we would be told.
    exited: new Promise(() => {}),
    stop: async () => {},
    kill: async () => refuse(),
    restart: async () => refuse(),
    suspend: async () => refuse(),
    resume: async () => refuse(),
    lastLines: () => [],
    [Symbol.asyncDispose]: async () => {},
  };
}
