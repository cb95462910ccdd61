import { AppError } from '@cleanslate/contracts';
import pg from 'pg';

/** What EVENTS shows beyond the database. */
type SeenInStream = {
  /** Highest epoch of a task event. */
  readonly epoch: number;
  /** Highest knowledge revision of a fact event. */
  readonly revision: number;
};

export type RestoreReport = {
  readonly epoch: number;
  readonly revision: number;
  readonly claimsEnded: number;
  readonly doorbellsToRing: number;
  readonly settlementsToRepeat: number;
};

/** More could not be a backup of this system: it would be another one's stream. */
const MAX_REVISION_JUMP = 10_000_000;

const END_CLAIMS = `WITH ended AS (
    UPDATE ledger.steps SET state = 'pending', phase = 'ready', due_at = now(), ready_at = now(), timeout_at = NULL, queue_expires_at = NULL
    WHERE phase = 'executing' RETURNING task_seq, step_id, tenant_id, attempt, spent, round, claim_id, worker
  )
  INSERT INTO ledger.transitions (at, task_seq, tenant_id, step_id, from_state, to_state, trigger, attempt, spent, round, claim_id, worker, code)
  SELECT now(), task_seq, tenant_id, step_id, 'executing', 'pending', 'released', attempt, spent, round, claim_id, worker, 'LEDGER_RESTORED' FROM ended`;

/** Old doorbells carry the old epoch, which no claim may name any more: the sweep publishes new ones. */
const RING_AGAIN = `UPDATE ledger.steps SET doorbell_seq = NULL, due_at = now() WHERE phase = 'dispatched'`;

/** Readers of the stream may have seen these positions already, in the lost time: the epoch distinguishes them. */
const RENUMBER = `UPDATE ledger.events SET envelope = jsonb_set(envelope::jsonb, '{epoch}', to_jsonb($1::int8))::json
  WHERE position IS NULL OR position > (SELECT position FROM ledger.published)`;

/**
 * Makes a restored database the ledger of a new epoch, in one transaction, so that fences, message ids and cursors of
 * the lost time can't be confused with new ones. Nothing is spent. Throws `CONFIGURATION` while services are connected.
 */
export async function restoreLedger(adminUrl: string, seen: SeenInStream): Promise<RestoreReport> {
  const client = new pg.Client({
    connectionString: adminUrl,
    application_name: 'slate-doctor',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN');
    await refuseWhileServicesRun(client);
    const revision = await raiseRevision(client, seen.revision);
    const count = async (text: string, values: readonly unknown[] = []) =>
      (await client.query(text, [...values])).rowCount ?? 0;
    const { rows } = await client.query<{ epoch: string }>(
      'UPDATE ledger.meta SET epoch = greatest(epoch, $1::int8) + 1 RETURNING epoch',
      [seen.epoch],
    );
    const epoch = Number(rows[0]?.epoch ?? 1);
    await client.query(RENUMBER, [epoch]);
    await client.query('DELETE FROM ledger.outbox');
    await client.query('DELETE FROM ledger.workers');
    const report = {
      epoch,
      revision,
      claimsEnded: await count(END_CLAIMS),
      doorbellsToRing: await count(RING_AGAIN),
      settlementsToRepeat: await count('UPDATE ledger.settlements SET due_at = now() WHERE settled_at IS NULL'),
    };
    await client.query('COMMIT');
    return report;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    await client.end();
  }
}

/**
 * Those of the given tasks (with their state) and fact versions that exist: whatever is missing from the result, the
 * database lacks.
 */
export async function findKnown(
  adminUrl: string,
  tasks: readonly { readonly tenantId: string; readonly taskId: string }[],
  facts: readonly { readonly tenantId: string; readonly knowledgeId: string; readonly version: number }[],
): Promise<{ readonly tasks: ReadonlyMap<string, string>; readonly facts: ReadonlySet<string> }> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const known = await client.query<{ key: string; state: string }>(
      `SELECT t.tenant_id || '/' || t.task_id AS key, t.state::text AS state FROM ledger.tasks t JOIN unnest($1::text[], $2::text[]) AS x(tenant_id, task_id) USING (tenant_id, task_id)`,
      [tasks.map((task) => task.tenantId), tasks.map((task) => task.taskId)],
    );
    const versions = await client.query<{ key: string }>(
      `SELECT f.tenant_id || '/' || f.knowledge_id || '@' || f.version AS key
       FROM knowledge.fact_versions f JOIN unnest($1::text[], $2::text[], $3::int4[]) AS x(tenant_id, knowledge_id, version) USING (tenant_id, knowledge_id, version)`,
      [facts.map((fact) => fact.tenantId), facts.map((fact) => fact.knowledgeId), facts.map((fact) => fact.version)],
    );
    return {
      tasks: new Map(known.rows.map(({ key, state }) => [key, state])),
      facts: new Set(versions.rows.map(({ key }) => key)),
    };
  } finally {
    await client.end();
  }
}

async function refuseWhileServicesRun(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'cleanslate-%' ORDER BY 1`,
  );
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(', ');
  throw new AppError(
    'CONFIGURATION',
    `services are connected to this database (${names}): stop all of them first, the epoch changes under their feet`,
  );
}

/** The knowledge clock stays gapless: the revisions of the lost time are used up, with nothing in them. */
async function raiseRevision(client: pg.Client, seen: number): Promise<number> {
  const { rows } = await client.query<{ last: string }>(
    'SELECT coalesce(max(revision), 0) AS last FROM knowledge.revisions',
  );
  const last = Number(rows[0]?.last ?? 0);
  if (seen <= last) return last;
  if (seen - last > MAX_REVISION_JUMP)
    throw new AppError('CONFIGURATION', `EVENTS is at revision ${seen}, the database at ${last}: not the same system`);
  await client.query(
    `INSERT INTO knowledge.revisions (revision, committed_at)
     SELECT n, greatest(date_trunc('milliseconds', clock_timestamp()), (SELECT max(committed_at) FROM knowledge.revisions))
     FROM generate_series($1::int8, $2::int8) AS n`,
    [last + 1, seen],
  );
  return seen;
}
