import { Socket } from 'node:net';
import { AppError } from '@cleanslate/contracts';
import type { SourceParams } from '@cleanslate/domain';
import pg from 'pg';
import type { FindContext, Hit, SourceAdapter } from '../adapter.ts';
import type { DeclaredParam } from '../guard/read-params.ts';
import { type RecordMapping, scoreOfPlace, toHit } from '../mapping/record-to-hit.ts';
import { sourceError } from '../source-error.ts';
import { cancelAtServer } from './cancel-at-server.ts';
import { toSqlError } from './sql-error.ts';

export type SqlOptions = {
  readonly source: string;
  /** postgres:// URL with a login that may read what the query reads, and no more. */
  readonly url: string;
  /** One SELECT; `$1`, `$2`… are the parameters in the order they are declared in. */
  readonly query: string;
  readonly params: readonly DeclaredParam[];
  readonly mapping: RecordMapping;
  /** The server's own deadline for it, in milliseconds. */
  readonly timeoutMs: number;
  /** Limit on all rows together, as the server sends them. */
  readonly maxBytes: number;
  /** Connections of this process. Default 2. */
  readonly poolSize?: number;
};

/**
 * Every value as the text that the server prints: no digit of a numeric, no leading zero and no time zone is lost on
 * the way.
 */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value } as unknown as pg.CustomTypesConfig;

/**
 * A PostgreSQL database, asked with one statement from the configuration. The database itself refuses to write (a READ
 * ONLY transaction), ends what takes too long and returns no more rows than asked for; what a task or a model says
 * arrives only as a parameter.
 */
export function sqlAdapter(options: SqlOptions): SourceAdapter {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: `cleanslate-source-${options.source}`,
    max: options.poolSize ?? 2,
    connectionTimeoutMillis: options.timeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types: AS_TEXT,
  });
  // Without a listener a connection's error would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    kind: 'sql',
    freshness: 'live',
    params: options.params,
    find: (params, context) => find(pool, options, params, context),
    check: async (signal) => {
      await inReadOnly(pool, options, signal, (client) =>
        client.query(`EXPLAIN ${bounded(options)}`, explained(options)),
      );
      return 'the database plans the query';
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

async function find(
  pool: pg.Pool,
  options: SqlOptions,
  params: SourceParams,
  { limit, signal }: FindContext,
): Promise<Hit[]> {
  const values = options.params.map(({ name }) => params[name] ?? null);
  const { rows } = await inReadOnly(pool, options, signal, (client) =>
    client.query<Record<string, unknown>>(bounded(options), [...values, limit]),
  );
  return rows.flatMap((row, index) => toHit(options.source, options.mapping, row, scoreOfPlace(index)) ?? []);
}

/** Inside another SELECT only a SELECT is valid; and the server stops after the rows that were asked for. */
function bounded({ query, params }: SqlOptions): string {
  return `SELECT * FROM (\n${query.replace(/;\s*$/, '')}\n) AS source LIMIT $${params.length + 1}`;
}

function explained({ params }: SqlOptions): (null | number)[] {
  return [...params.map(() => null), 1];
}

async function inReadOnly<T>(
  pool: pg.Pool,
  { source, timeoutMs, maxBytes }: SqlOptions,
  signal: AbortSignal,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toSqlError(source, error);
  });
  const stream = streamOf(client);
  let broken = false;
  // The server would continue until its own deadline; the connection is not used again.
  const stop = () => {
    broken = true;
    cancelAtServer(client, stream);
    stream.destroy();
  };
  // The driver would collect everything: the connection ends if it is too much.
  let [bytes, tooLarge] = [0, false];
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes || tooLarge) return;
    tooLarge = true;
    stop();
  };
  signal.addEventListener('abort', stop, { once: true });
  stream.on('data', count);
  try {
    signal.throwIfAborted();
    await client.query(
      `BEGIN READ ONLY; SET LOCAL statement_timeout = ${timeoutMs}; SET LOCAL lock_timeout = ${timeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${timeoutMs}; SET LOCAL TIME ZONE 'UTC'; SET LOCAL datestyle = 'ISO'`,
    );
    const result = await work(client);
    await client.query('ROLLBACK');
    return result;
  } catch (error) {
    if (!broken)
      await client.query('ROLLBACK').catch(() => {
        broken = true;
      });
    if (tooLarge) {
      const what = `answered more than ${maxBytes} bytes: select fewer columns or raise maxBytes`;
      throw sourceError('SOURCE_TOO_LARGE', source, what);
    }
    signal.throwIfAborted();
    throw toSqlError(source, error);
  } finally {
    signal.removeEventListener('abort', stop);
    stream.off('data', count);
    client.release(broken);
  }
}

/**
 * What the connection reads from: a socket, or the TLS around it. The driver does not expose it, but has had it under
 * this name for ten years.
 */
function streamOf(client: pg.PoolClient): Socket {
  const { connection } = client as unknown as { readonly connection?: { readonly stream?: unknown } };
  if (connection?.stream instanceof Socket) return connection.stream;
  throw new AppError('INTERNAL', 'the database driver keeps its connection elsewhere: bounds can not be held');
}

/** Checks of the configuration that need no server. */
export function checkQuery(query: string, params: readonly { readonly name: string }[]): void {
  const used = new Set([...query.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const missing = params.filter((_param, index) => !used.has(index + 1)).map(({ name }) => name);
  if (missing.length > 0)
    throw new AppError(
      'CONFIGURATION',
      `the query does not use ${missing.join(', ')}: write $1 for the first parameter`,
    );
  if (Math.max(0, ...used) > params.length)
    throw new AppError('CONFIGURATION', `the query uses $${Math.max(...used)}: declare ${Math.max(...used)} params`);
}
