import { createHash } from 'node:crypto';
import { AppError, TOKEN_PATTERN } from '@cleanslate/contracts';
import pg from 'pg';
import { BatchingSocket } from './batching-socket.ts';

/** Database roles of the services; created by the first migration. Each may do only what its service needs. */
export const DATABASE_ROLES = [
  'cleanslate_scheduler',
  'cleanslate_maintainer',
  'cleanslate_gateway',
  'cleanslate_retriever',
  'cleanslate_validator',
] as const;
export type DatabaseRole = (typeof DATABASE_ROLES)[number];

export type DatabaseOptions = {
  /** postgres:// URL. */
  readonly url: string;
  readonly applicationName: string;
  /**
   * Connections of this process; the sum over all replicas must stay below the server's `max_connections`. Default 4.
   */
  readonly poolSize?: number;
  /**
   * For tables whose rows change all the time: a bitmap scan does not mark the index entries of dead rows, so each scan
   * reads all of them again until the next vacuum; an index scan does. (Measured: 11,000 rows fetched per task with,
   * 300 without.) Default: the planner may use them.
   */
  readonly bitmapScans?: boolean;
  /**
   * Plan each statement once per connection, whatever its parameters: for arrays of a batch PostgreSQL overestimates
   * the cost of the general plan by its guess of their length, and plans again every time. (Measured: 5 % of the
   * server's time in the ledger.) Default: the server chooses.
   */
  readonly planOnce?: boolean;
  /** A query without an answer by then fails and its connection is closed. Default 15 s. */
  readonly queryTimeoutMs?: number;
  /**
   * For replicas that wait for each other's locks: the server ends a transaction that its process leaves idle this long
   * (frozen, or cut off), and a wait for a lock gives up. Default: never.
   */
  readonly stallMs?: number;
  /** Idle connections that break are replaced silently; this is called for each. */
  readonly onConnectionError?: (error: Error) => void;
};

export type Database = AsyncDisposable & {
  readonly pool: pg.Pool;
  close(): Promise<void>;
};

/** A transaction's connection. Never use the pool while holding one: that can deadlock the pool. */
export type Tx = {
  query<R extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<pg.QueryResult<R>>;
  /**
   * Sends the commit right after the statements already sent, in the same round trip: if one of them fails, the server
   * rolls back. Nothing may be sent after it. It is not sent if the work fails in the same turn, for example when a
   * statement could not be built. Optional: the transaction commits anyway when its work is done.
   */
  commit(): void;
};

/** Resolves once what was sent has left: the server works on it while the next statements are built. */
export function sent(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export type TransactionScope = {
  readonly role: DatabaseRole;
  /** Row-level security shows rows of this tenant only; unset means an error for readers. */
  readonly tenantId?: string;
  readonly readOnly?: boolean;
  /** Commit without waiting for the disk: for writes that a repetition restores (marks of what was sent). */
  readonly relaxedDurability?: boolean;
  /** For the few statements that may take longer than the connection's queries. */
  readonly queryTimeoutMs?: number;
};

// int8 as number where it is exact: counters and sequences stay far below 2^53; anything beyond
// is an error, not a rounding.
const INT8_OID = 20;
const parseInt8 = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new AppError('INTERNAL', `int8 ${text} is beyond the exact integers of JavaScript`);
  return value;
};

const TIMESTAMPTZ_OID = 1184;
const parseAnyTime: (text: string) => Date = pg.types.getTypeParser(TIMESTAMPTZ_OID);

/**
 * The common form `2026-11-30 14:00:00.123+00` goes to the engine's own parser: the driver's regular expression makes a
 * list of ten strings of each.
 */
function parseTime(text: string): Date {
  if (text[10] !== ' ' || !text.endsWith('+00')) return parseAnyTime(text);
  return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`);
}

/**
 * Every query of a service finds its rows by an index, and statements are planned once per connection, mostly while
 * tables are still small: without this the kept plan scans them, and costs grow with every finished task. (Measured:
 * the ledger's loads and updates 2–4 × faster after a thousand tasks.)
 */
const PLANNER = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';

function toSettings({ bitmapScans, planOnce, stallMs }: DatabaseOptions): string {
  const stall = ['idle_in_transaction_session_timeout', 'lock_timeout', 'tcp_user_timeout'];
  return [
    PLANNER,
    ...(bitmapScans === false ? ['-c enable_bitmapscan=off'] : []),
    ...(planOnce === true ? ['-c plan_cache_mode=force_generic_plan'] : []),
    ...(stallMs === undefined ? [] : stall.map((name) => `-c ${name}=${stallMs}`)),
  ].join(' ');
}

export function openDatabase(options: DatabaseOptions): Database {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8_OID, parseInt8);
  types.setTypeParser(TIMESTAMPTZ_OID, parseTime);
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.poolSize ?? 4,
    connectionTimeoutMillis: 5_000,
    query_timeout: options.queryTimeoutMs ?? 15_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types,
    options: toSettings(options),
    // Statements of a transaction that don't wait for each other's results share a round trip.
    pipeline: true,
    stream: () => new BatchingSocket(),
  });
  // Without a listener a connection's error would end the process. An idle connection's error goes to the pool, but the
  // pool stops listening before whoever asked for the connection can begin to, and a server that is stopping says
  // "ready" and "over" in one breath: so each connection has a listener for its whole life.
  pool.on('error', (error) => options.onConnectionError?.(error));
  pool.on('connect', (client) => client.on('error', () => undefined));
  const close = () => pool.end();
  return { pool, close, [Symbol.asyncDispose]: close };
}

const MAX_TRIES = 6;
const IN_FAILED_TRANSACTION = '25P02';

/**
 * Runs `work` in one transaction under `scope.role`, set with `SET LOCAL` so that it also works where all clients share
 * one session (the embedded database). Serialization failures and deadlocks repeat the whole of `work`, with jitter; it
 * must have no effects outside. Throws `DATABASE_UNAVAILABLE` if the server can't be reached, otherwise the original
 * error.
 */
export async function withTransaction<T>(
  database: Database,
  scope: TransactionScope,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await runOnce(database, scope, work);
    } catch (error) {
      if (!isSerializationFailure(error) || tries >= MAX_TRIES) throw asDatabaseError(error);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** tries));
    }
  }
}

const statementNames = new Map<string, string>();

/** The same text is planned once per connection. (Our texts are constants: their number is bounded.) */
function nameOf(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = `cs_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    statementNames.set(text, name);
  }
  return name;
}

async function runOnce<T>(database: Database, scope: TransactionScope, work: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await database.pool.connect();
  let failed = false;
  let first: unknown;
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    // Sent together with the first statement of `work`; if it fails, that one fails too.
    const begun = client.query(beginStatement(scope));
    const patience = scope.queryTimeoutMs === undefined ? {} : { query_timeout: scope.queryTimeoutMs };
    let committed: Promise<pg.QueryResult | undefined> | undefined;
    const query: Tx['query'] = async (text, values = []) => {
      if (committed !== undefined) throw new AppError('INTERNAL', 'a statement came behind the commit');
      // Of statements that are sent without waiting for each other, one may fail before the last is built: that one
      // would run outside of any transaction.
      if (failed) throw new AppError('INTERNAL', 'a statement came behind the rollback');
      try {
        return await client.query({ name: nameOf(text), text, values: [...values], ...patience });
      } catch (error) {
        first ??= error;
        throw error;
      }
    };
    const commit = () => {
      // Anything thrown in this turn has been reported by the next tick.
      committed = new Promise((resolve, reject) =>
        process.nextTick(() => (failed ? resolve(undefined) : client.query('COMMIT').then(resolve, reject))),
      );
      // Handled below, unless a statement before it fails first.
      committed.catch(() => undefined);
    };
    const [result] = await Promise.all([work({ query, commit }), begun]);
    requireCommitted(await (committed ?? client.query('COMMIT')));
    return result;
  } catch (error) {
    failed = true;
    // The caller must see the original error, whatever happens to the rollback.
    await client.query('ROLLBACK').catch((rollback: Error) => {
      broken = rollback;
    });
    // Statements after a failed one only report that one failed, and may report it first: the original error may come
    // from deeper in `work`.
    throw sqlState(error) === IN_FAILED_TRANSACTION ? (first ?? error) : error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** A transaction in which a statement failed answers its commit with a rollback, without an error. */
function requireCommitted(result: pg.QueryResult | undefined): void {
  if (result?.command !== 'COMMIT')
    throw new AppError('INTERNAL', 'a statement failed unheard: its transaction was rolled back');
}

/** One round trip: begin, role, tenant. The parts are checked ids, so they can be part of the text. */
function beginStatement(scope: TransactionScope): string {
  const parts = [scope.readOnly ? 'BEGIN READ ONLY' : 'BEGIN', `SET LOCAL ROLE ${scope.role}`];
  if (scope.relaxedDurability) parts.push('SET LOCAL synchronous_commit = off');
  if (scope.tenantId !== undefined) {
    if (!TOKEN_PATTERN.test(scope.tenantId)) throw new AppError('INVALID_INPUT', 'tenant id is malformed');
    parts.push(`SELECT set_config('cleanslate.tenant', '${scope.tenantId}', true)`);
  }
  return parts.join('; ');
}

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function isSerializationFailure(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/** True for a unique or exclusion violation. */
export function isConstraintViolation(error: unknown, constraint?: string): boolean {
  const state = sqlState(error);
  if (state !== '23505' && state !== '23P01') return false;
  return (
    constraint === undefined || (error instanceof Error && 'constraint' in error && error.constraint === constraint)
  );
}

/**
 * Connection, credentials (a rotated password needs a person, not an attempt), shutdown, out of resources; a lock not
 * granted in time, a transaction left idle.
 */
const OUTAGE_STATES = /^(08|28|57P0|53|55P03|25P03)/;
const OUTAGE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);

function asDatabaseError(error: unknown): unknown {
  const state = sqlState(error);
  const outage =
    (state !== undefined && (OUTAGE_STATES.test(state) || OUTAGE_CODES.has(state))) ||
    (error instanceof Error && /timeout|terminated|Connection ended|not queryable/i.test(error.message));
  if (!outage) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AppError('DATABASE_UNAVAILABLE', `the database can't be used: ${message}`, {
    cause: error,
    retryAfterMs: 1_000,
  });
}
