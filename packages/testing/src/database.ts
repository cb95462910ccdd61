import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { addTenants, DATABASE_ROLES, type DatabaseRole, migrate } from '@cleanslate/store';
import pg from 'pg';

export type TestDatabase = AsyncDisposable & {
  readonly name: string;
  readonly adminUrl: string;
  urlOf(role: DatabaseRole): string;
  /** Any SQL as the superuser: for looking at rows and for breaking things. */
  sql<R extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<R[]>;
};

/**
 * Roles are shared by all databases of a server: a test that gave one another password would lock
 * out every platform beside it.
 */
export const ROLE_PASSWORD = 'cleanslate-test';

/** A database of its own, copied from a template that is migrated once per server and state of the migrations. */
export async function createTestDatabase(
  serverAdminUrl: string,
  tenants: readonly string[] = ['acme', 'globex'],
): Promise<TestDatabase> {
  const template = await ensureTemplate(serverAdminUrl);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withClient(serverAdminUrl, async (client) => {
    // Copying a template takes it for itself; copies queue on this lock instead of failing.
    await client.query(`SELECT pg_advisory_lock(hashtext('cleanslate.template'))`);
    await copyTemplate(client, name, template);
  });
  const adminUrl = withDatabase(serverAdminUrl, name);
  await addTenants(adminUrl, tenants);
  const pool = new pg.Pool({ connectionString: adminUrl, max: 2 });
  pool.on('error', () => undefined);
  const sql = async <R extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) =>
    (await pool.query<R>(text, values === undefined ? undefined : [...values])).rows;
  const dispose = async () => {
    await pool.end();
    await withClient(serverAdminUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  };
  return { name, adminUrl, urlOf: (role) => urlOf(adminUrl, role), sql, [Symbol.asyncDispose]: dispose };
}

/**
 * TimescaleDB's background workers look into every database from time to time, and a database that is
 * looked into can't be copied.
 */
async function copyTemplate(client: pg.Client, name: string, template: string): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  for (;;) {
    try {
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      return;
    } catch (error) {
      const busy = error instanceof pg.DatabaseError && error.code === '55006';
      if (!busy || performance.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function ensureTemplate(serverAdminUrl: string): Promise<string> {
  const template = `template_${await hashMigrations()}`;
  await withClient(serverAdminUrl, async (client) => {
    await client.query(`SELECT pg_advisory_lock(hashtext('cleanslate.template'))`);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [template]);
    if (rowCount !== 0) return;
    // Under a draft name until it is whole: an interrupted run must not leave a template that others trust.
    const draft = `draft_${randomBytes(6).toString('hex')}`;
    await client.query(`CREATE DATABASE ${draft}`);
    const passwords = Object.fromEntries(DATABASE_ROLES.map((role) => [role, ROLE_PASSWORD]));
    await migrate({ adminUrl: withDatabase(serverAdminUrl, draft), passwords });
    await client.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
  });
  return template;
}

async function hashMigrations(): Promise<string> {
  const folder = new URL('../../store/migrations/', import.meta.url);
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).sort()) hash.update(await readFile(new URL(name, folder)));
  return hash.digest('hex').slice(0, 12);
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

function urlOf(adminUrl: string, role: DatabaseRole): string {
  const url = new URL(adminUrl);
  url.username = role;
  url.password = ROLE_PASSWORD;
  return url.href;
}
