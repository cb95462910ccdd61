import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Child } from './child.ts';
import { findFreePort } from './free-port.ts';
import { LaunchError } from './launch-error.ts';
import { createPostgresAdmin, runStatement } from './postgres-admin.ts';
import type { PostgresServer } from './postgres-server.ts';
import { ServerProcess, startOnFreePort } from './server-process.ts';
import { findPinnedNode, inheritedEnvironment } from './toolchain.ts';

export interface EmbeddedPostgresOptions {
  /** Keeps the data. Default: in memory, gone after `stop`, `kill` or `restart`. */
  readonly dir?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** A transaction that idles longer is rolled back and its client cut off. Default 30,000. */
  readonly idleInTransactionMs?: number;
  readonly signal?: AbortSignal;
  /** Called with every line the process prints. */
  readonly log?: (line: string) => void;
}

const START_TIMEOUT_MS = 60_000;

/**
 * Starts PGlite (PostgreSQL in WASM, with vector, btree_gist, pg_trgm and pgcrypto) as a process that serves loopback.
 * All clients are one superuser session: one transaction at a time, SET without LOCAL and SET ROLE reach everyone, user
 * and database in the URL are ignored, there is one database, no COPY FROM STDIN and no cancelling of a query.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions = {}): Promise<PostgresServer> {
  if (options.dir !== undefined) await mkdir(options.dir, { recursive: true });
  return startOnFreePort(options.port, findFreePort, (port) => startOnPort(options, port));
}

async function startOnPort(options: EmbeddedPostgresOptions, port: number): Promise<PostgresServer> {
  const adminUrl = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  const env = {
    ...inheritedEnvironment(),
    EMBEDDED_PORT: String(port),
    ...(options.dir === undefined ? {} : { EMBEDDED_DIR: options.dir }),
    ...(options.idleInTransactionMs === undefined
      ? {}
      : { EMBEDDED_IDLE_IN_TRANSACTION_MS: String(options.idleInTransactionMs) }),
  };
  const server = await ServerProcess.start({
    name: `embedded PostgreSQL on port ${port}`,
    timeoutMs: START_TIMEOUT_MS,
    graceMs: 10_000,
    signal: options.signal,
    start: () =>
      Child.start({
        name: 'embedded-postgres',
        program: findPinnedNode(),
        args: [join(import.meta.dirname, 'embedded-postgres-main.ts')],
        env,
        log: options.log,
      }),
    isReady: async () => {
      await runStatement(adminUrl, 'SELECT 1');
      return true;
    },
  });
  const refuse = async (): Promise<never> => {
    throw new LaunchError('NOT_OURS', 'The embedded server has one database. Start another embedded server instead.');
  };
  return Object.assign(server, createPostgresAdmin(adminUrl), {
    enforcesRoles: false,
    createDatabase: refuse,
    dropDatabase: refuse,
  });
}
