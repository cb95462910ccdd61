import { randomUUID } from 'node:crypto';
import { startEmbeddedPostgres } from '@cleanslate/infra';
import { type Database, migrate, openDatabase } from '@cleanslate/store';
import { inject } from 'vitest';

/** The server is shared with all other test files: where they load the machine, one statement may take its time. */
const SETTINGS = { applicationName: 'knowledge-test', queryTimeoutMs: 120_000 } as const;

export type KnowledgeDatabase = AsyncDisposable & {
  readonly database: Database;
  /** The superuser's URL of it. */
  readonly url: string;
  /** The superuser's sessions, past every policy, for looking at rows. */
  readonly admin: Database['pool'];
};

/** What the store's suites run on. */
export const BACKENDS = ['TimescaleDB', 'embedded'] as const;

export async function openBackend(backend: (typeof BACKENDS)[number]): Promise<KnowledgeDatabase> {
  return backend === 'embedded' ? await startEmbedded() : await createKnowledgeDatabase(inject('postgresAdminUrl'));
}

async function startEmbedded(): Promise<KnowledgeDatabase> {
  const server = await startEmbeddedPostgres();
  await migrate({ adminUrl: server.adminUrl });
  const database = openDatabase({ ...SETTINGS, url: server.adminUrl });
  return {
    database,
    url: server.adminUrl,
    admin: database.pool,
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await server.stop();
    },
  };
}

/** A migrated database of its own on the run's server. */
export async function createKnowledgeDatabase(adminUrl: string): Promise<KnowledgeDatabase> {
  const name = `knowledge_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  await runOnce(adminUrl, `CREATE DATABASE ${name}`);
  const target = new URL(adminUrl);
  target.pathname = `/${name}`;
  await migrate({ adminUrl: target.href });
  const database = openDatabase({ ...SETTINGS, url: target.href });
  return {
    database,
    url: target.href,
    admin: database.pool,
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await runOnce(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function runOnce(url: string, sql: string): Promise<void> {
  await using server = openDatabase({ ...SETTINGS, url, poolSize: 1 });
  await server.pool.query(sql);
}
