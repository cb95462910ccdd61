import { type Database, findPendingMigrations, openDatabase } from '@cleanslate/store';
import { findAdminUrl } from '../commands/migrate.ts';
import type { CommandContext } from '../context.ts';
import { findCredentials } from '../stack/credentials.ts';
import { attempt, type Check, fail, ok, warn } from './check.ts';
import { judgeClock } from './clock.ts';
import { toRevive } from './to-revive.ts';

export async function checkDatabase(context: CommandContext): Promise<readonly Check[]> {
  return await attempt('database', await toRevive(context, 'DATABASE_URL'), async () => {
    const adminUrl = await findAdminUrl(context);
    await using database = openDatabase({ url: adminUrl, applicationName: 'slate-doctor', poolSize: 1 });
    return [
      ...(await checkServer(database)),
      ...(await attempt('migrations', 'slate migrate', () => checkMigrations(adminUrl))),
      ...(await attempt('database roles', 'slate migrate', () => checkRoles(context, adminUrl))),
      ...(await attempt('ledger', 'slate migrate', () => checkLedger(database))),
      ...(await attempt('redactions', 'slate migrate', () => checkRedactions(database))),
    ];
  });
}

async function checkServer(database: Database): Promise<readonly Check[]> {
  const { rows } = await database.pool.query<{ version: string; now: Date; extensions: string[] }>(
    `SELECT current_setting('server_version') AS version, clock_timestamp() AS now,
            ARRAY(SELECT extname || ' ' || extversion FROM pg_extension WHERE extname IN ('vector', 'timescaledb') ORDER BY 1)::text[] AS extensions`,
  );
  const [row] = rows;
  if (row === undefined) return [fail('database', 'no answer', 'slate migrate')];
  const text = `PostgreSQL ${row.version}, ${row.extensions.join(', ') || 'no extensions'}`;
  const plain = row.extensions.some((name) => name.startsWith('timescaledb'))
    ? ok('database', text)
    : ok('database', `${text}; without timescaledb, hypertables are plain tables`);
  return [plain, judgeClock('database clock', row.now.getTime())];
}

async function checkMigrations(adminUrl: string): Promise<Check> {
  const pending = await findPendingMigrations(adminUrl);
  if (pending.length === 0) return ok('migrations', 'none is missing');
  return fail('migrations', `missing: ${pending.join(', ')}`, 'slate migrate');
}

/** Logs in as the gateway and tries to write. */
async function checkRoles(context: CommandContext, adminUrl: string): Promise<Check> {
  const password = (await findCredentials(context.home))?.database['cleanslate_gateway'];
  if (password === undefined) {
    const text = `not tried: the services' passwords are not in ${context.home.credentials}`;
    return { name: 'database roles', state: 'skip', found: text };
  }
  const url = new URL(adminUrl);
  url.username = 'cleanslate_gateway';
  url.password = password;
  await using database = openDatabase({ url: url.href, applicationName: 'slate-doctor', poolSize: 1 });
  const { rows } = await database.pool.query<{ login: string; writes: boolean }>(
    `SELECT session_user::text AS login, has_table_privilege('ledger.tasks', 'INSERT') AS writes`,
  );
  const [row] = rows;
  if (row?.login !== 'cleanslate_gateway') {
    const text = `database roles are not enforced here: every login is ${row?.login ?? 'the same'}; services set theirs per transaction`;
    return warn('database roles', text, 'for more than a look around, give DATABASE_URL of a real PostgreSQL');
  }
  if (row.writes) return fail('database roles', 'the gateway may write the ledger', 'slate migrate');
  return ok('database roles', 'each service logs in as itself; the gateway can only read');
}

async function checkLedger(database: Database): Promise<readonly Check[]> {
  const { rows } = await database.pool.query<
    Record<'unaccounted' | 'candidates' | 'repairs' | 'doorbells' | 'unpublished' | 'letters' | 'tenants', number>
  >(
    `SELECT (SELECT count(*) FROM ledger.unaccounted_tasks) AS unaccounted,
            (SELECT count(*) FROM ledger.unaccounted_candidates) AS candidates,
            (SELECT count(*) FROM ledger.repairs WHERE at > now() - interval '1 day') AS repairs,
            (SELECT count(*) FROM ledger.steps WHERE phase = 'dispatched' AND doorbell_seq IS NULL) AS doorbells,
            (SELECT count(*) FROM ledger.events WHERE position IS NULL) + (SELECT m.position - p.position FROM ledger.meta m, ledger.published p) AS unpublished,
            (SELECT count(*) FROM ledger.dead_letters WHERE status = 'open') AS letters,
            (SELECT count(*) FROM ledger.tenants WHERE state = 'active') AS tenants`,
  );
  const [row] = rows;
  if (row === undefined) return [fail('ledger', 'no answer', 'slate migrate')];
  const waiting = row.doorbells + row.unpublished;
  return [
    row.unaccounted === 0
      ? ok('unaccounted tasks', '0')
      : fail(
          'unaccounted tasks',
          `${row.unaccounted} tasks that nothing will move: ${await listUnaccounted(database)}`,
          'is the scheduler ready? `slate doctor --repair`, and report it as a bug',
        ),
    row.candidates === 0
      ? ok('unaccounted candidates', '0')
      : fail(
          'unaccounted candidates',
          `those of ${row.candidates} tasks, which nothing will decide`,
          'are scheduler and knowledge-maintainer ready? `slate doctor --repair`, and report it as a bug',
        ),
    row.repairs === 0
      ? ok('repairs', 'none in the last day')
      : warn('repairs', `${row.repairs} in the last day: see ledger.repairs`, 'report them as a bug'),
    waiting > 1_000
      ? warn('outbox', `${waiting} messages wait to be published`, 'are broker and scheduler ready?')
      : ok('outbox', `${waiting} messages wait to be published`),
    row.letters === 0
      ? ok('dead letters', '0 open')
      : warn('dead letters', `${row.letters} open`, 'slate dlq list --status open'),
    row.tenants === 0
      ? warn('tenants', 'none: every submit will be refused', 'slate migrate --tenant NAME')
      : ok('tenants', `${row.tenants} active`),
  ];
}

/** A redaction that was never confirmed leaves its content for somebody to read. */
async function checkRedactions(database: Database): Promise<Check> {
  const { rows } = await database.pool.query<{ open: number; stuck: number; waiting: number }>(
    `SELECT count(*)::int4 AS open, count(*) FILTER (WHERE cardinality(e.waits_for) > 0)::int4 AS waiting,
       count(*) FILTER (WHERE r.redacted_at < now() - interval '10 minutes' AND coalesce(cardinality(e.waits_for), 0) = 0)::int4 AS stuck
     FROM knowledge.redactions r LEFT JOIN ledger.erasures e ON e.redaction_id = r.redaction_id WHERE r.confirmed_at IS NULL`,
  );
  const { open, stuck, waiting } = rows[0] ?? { open: 0, stuck: 0, waiting: 0 };
  if (open === 0) return ok('redactions', 'all confirmed');
  const list = 'slate fact redactions --open';
  if (stuck > 0)
    return fail(
      'redactions',
      `${stuck} not confirmed for ten minutes`,
      `are scheduler and knowledge-maintainer ready? ${list}`,
    );
  return warn('redactions', `${open} not confirmed yet, ${waiting} of them wait for attempts that began before`, list);
}

async function listUnaccounted(database: Database): Promise<string> {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT tenant_id || '/' || task_id AS name FROM ledger.unaccounted_tasks ORDER BY 1 LIMIT 5`,
  );
  return rows.map(({ name }) => name).join(', ');
}
