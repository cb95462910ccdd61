import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface DatabaseLogin {
  readonly database?: string;
  readonly user?: string;
  readonly password?: string;
}

/** What a server's superuser does for tests and for `slate up`. */
export interface PostgresAdmin {
  /** The superuser's connection to the maintenance database. */
  readonly adminUrl: string;
  /** A connection string; what is left out is the superuser's. */
  url(login?: DatabaseLogin): string;
  /** Returns the superuser's URL of the new database. Waits for sessions on the template to go. */
  createDatabase(name: string, options?: { readonly template?: string }): Promise<string>;
  /** Ends the sessions on it first; a database that isn't there is not an error. */
  dropDatabase(name: string): Promise<void>;
}

export function createPostgresAdmin(adminUrl: string): PostgresAdmin {
  const url = (login: DatabaseLogin = {}): string => {
    const target = new URL(adminUrl);
    if (login.database !== undefined) target.pathname = `/${encodeURIComponent(login.database)}`;
    if (login.user !== undefined) {
      target.username = encodeURIComponent(login.user);
      target.password = encodeURIComponent(login.password ?? '');
    }
    return target.href;
  };
  return {
    adminUrl,
    url,
    createDatabase: async (name, options = {}) => {
      const template = options.template === undefined ? '' : ` TEMPLATE ${quoteIdentifier(options.template)}`;
      await retryWhileInUse(() => runStatement(adminUrl, `CREATE DATABASE ${quoteIdentifier(name)}${template}`));
      return url({ database: name });
    },
    dropDatabase: (name) => runStatement(adminUrl, `DROP DATABASE IF EXISTS ${quoteIdentifier(name)} WITH (FORCE)`),
  };
}

/** Connects once and runs one statement; throws what the server says. */
export async function runStatement(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A server that is killed while we wait reports it here too; the awaited call rejects with it already.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const OBJECT_IN_USE = '55006';

/** A session that has just closed may still count for some milliseconds. */
async function retryWhileInUse(body: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await body();
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE || attempt === 40) throw error;
      await sleep(50);
    }
  }
}
