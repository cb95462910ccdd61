import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { AppError } from '@cleanslate/contracts';
import pg from 'pg';
import { DATABASE_ROLES, type DatabaseRole } from './database.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);

export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
};
export type MigrationReport = { readonly applied: readonly string[]; readonly current: number };

export type MigrateOptions = {
  /** URL of a user who may create roles, schemas and extensions. */
  readonly adminUrl: string;
  /** Sets the passwords with which the services log in; roles left out keep theirs. */
  readonly passwords?: Partial<Record<DatabaseRole, string>>;
};

/**
 * Numbered plain SQL, each applied once and in a transaction of its own, however many processes start at the same time:
 * they take turns, even through a pooler. A migration that does not get a table's lock lets everybody pass who queued
 * up behind it, and tries again. Throws `CONFIGURATION` if an applied file was edited.
 */
export async function migrate(options: MigrateOptions): Promise<MigrationReport> {
  const migrations = await readMigrations();
  const client = new pg.Client({
    connectionString: options.adminUrl,
    application_name: 'cleanslate-migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const applied = await applyMissing(client, migrations);
    await inTransaction(client, () => setPasswords(client, options.passwords ?? {}));
    return { applied, current: migrations.at(-1)?.version ?? 0 };
  } finally {
    await client.end();
  }
}

/**
 * Services go on while a migration waits for a table, and their statements queue up behind it: it must not wait for
 * long. Milliseconds.
 */
const LOCK_MS = 2_000;
/** About two minutes of tries, in which even long transactions end. */
const MAX_TRIES = 40;

/** One migrating process at a time: it waits for others as long as it takes, for services only briefly. */
async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(
        `BEGIN; SELECT pg_advisory_xact_lock(hashtext('cleanslate.migrate')); SET LOCAL lock_timeout = ${LOCK_MS}`,
      );
      const result = await work();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      if (tries >= MAX_TRIES || !mayPass(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(1_000, 50 * tries)));
    }
  }
}

/**
 * A lock not granted in time, or a deadlock with its holders; and roles belong to the whole server, so two databases
 * that are migrated at the same moment may write the same one.
 */
function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return code === '55P03' || code === '40P01' || error.message.includes('tuple concurrently updated');
}

/** Migrations that the database lacks, for `slate doctor` and readiness. */
export async function findPendingMigrations(adminUrl: string): Promise<readonly string[]> {
  const migrations = await readMigrations();
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const known = await client.query<{ exists: boolean }>(
      `SELECT to_regclass('cleanslate.schema_migrations') IS NOT NULL AS exists`,
    );
    const versions = known.rows[0]?.exists ? await readApplied(client) : new Map<number, string>();
    return migrations.filter((migration) => !versions.has(migration.version)).map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

/** What this release brings, in order. */
export async function readMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, MIGRATIONS), 'utf8');
      return { version: Number(name.slice(0, 4)), name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function readApplied(client: pg.Client): Promise<Map<number, string>> {
  const { rows } = await client.query<{ version: number; checksum: string }>(
    'SELECT version, checksum FROM cleanslate.schema_migrations',
  );
  return new Map(rows.map((row) => [row.version, row.checksum]));
}

async function applyMissing(client: pg.Client, migrations: readonly Migration[]): Promise<string[]> {
  await inTransaction(client, async () => {
    await client.query('CREATE SCHEMA IF NOT EXISTS cleanslate');
    await client.query(
      'CREATE TABLE IF NOT EXISTS cleanslate.schema_migrations (version int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
    );
  });
  const known = await readApplied(client);
  const applied: string[] = [];
  for (const migration of migrations) {
    if (isApplied(migration, known)) continue;
    if (await inTransaction(client, () => applyOne(client, migration))) applied.push(migration.name);
  }
  return applied;
}

/** False where another process applied it meanwhile. */
async function applyOne(client: pg.Client, migration: Migration): Promise<boolean> {
  if (isApplied(migration, await readApplied(client))) return false;
  await client.query(migration.sql);
  await client.query('INSERT INTO cleanslate.schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', [
    migration.version,
    migration.name,
    migration.checksum,
  ]);
  return true;
}

function isApplied(migration: Migration, known: ReadonlyMap<number, string>): boolean {
  const checksum = known.get(migration.version);
  if (checksum === undefined || checksum === migration.checksum) return checksum !== undefined;
  throw new AppError(
    'CONFIGURATION',
    `migration ${migration.name} was edited after it was applied: restore it and add a new one`,
  );
}

async function setPasswords(client: pg.Client, passwords: Partial<Record<DatabaseRole, string>>): Promise<void> {
  for (const role of DATABASE_ROLES) {
    const password = passwords[role];
    if (password !== undefined)
      await client.query(`ALTER ROLE ${role} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
  }
}
