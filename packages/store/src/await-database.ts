import { AppError } from '@cleanslate/contracts';
import { type Database, type DatabaseRole, withTransaction } from './database.ts';
import { readMigrations } from './migrate.ts';

export type AwaitDatabaseOptions = {
  /** Hears why it still waits, each time it looks. */
  readonly onWait: (problem: string) => void;
  /** How long a refused password may be one that the migration has yet to set. Milliseconds, default 20 s. */
  readonly authWaitMs?: number;
  /** Milliseconds, default 500. */
  readonly everyMs?: number;
};

/**
 * Waits, however long, until the database answers and has the migrations this release was built with: a process that
 * ended instead would be started again with ever longer pauses, and be away long after the database is back. Throws
 * `UNAUTHORIZED` where the login stays refused.
 */
export async function awaitDatabase(
  database: Database,
  role: DatabaseRole,
  { onWait, authWaitMs = 20_000, everyMs = 500 }: AwaitDatabaseOptions,
): Promise<void> {
  const wanted = (await readMigrations()).map(({ version, name }) => ({ version, name }));
  const began = performance.now();
  for (;;) {
    try {
      const missing = await findMissing(database, role, wanted);
      if (missing.length === 0) return;
      onWait(`the database lacks ${missing.join(', ')}: run \`slate migrate\``);
    } catch (error) {
      const refused = isLoginRefused(error);
      if (refused && performance.now() - began > authWaitMs) throw refused;
      onWait(`the database can't be used yet: ${error instanceof Error ? error.message : String(error)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

async function findMissing(
  database: Database,
  role: DatabaseRole,
  wanted: readonly { readonly version: number; readonly name: string }[],
): Promise<string[]> {
  const applied = await withTransaction(database, { role, readOnly: true }, async (tx) => {
    const { rows } = await tx.query<{ version: number }>('SELECT version FROM cleanslate.schema_migrations');
    return new Set(rows.map((row) => row.version));
  });
  return wanted.filter(({ version }) => !applied.has(version)).map(({ name }) => name);
}

/** "Invalid authorization" and "invalid password": also said of a role that does not exist yet. */
function isLoginRefused(error: unknown): AppError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const refused = cause instanceof Error && 'code' in cause && /^28/.test(String(cause.code));
  if (!refused) return undefined;
  const text = `the database refuses the login (${cause.message}): check user and password of DATABASE_URL`;
  return new AppError('UNAUTHORIZED', text, { cause });
}
