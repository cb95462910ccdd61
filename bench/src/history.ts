import type { Platform } from '@cleanslate/testing';

const BATCH = 50_000;

/** Puts finished tasks of four steps and seven events each into the ledger, as if they had run some time ago. */
export async function addHistory({ database }: Platform, tasks: number): Promise<void> {
  await database.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('history', 'history', '{}')`);
  for (let from = 0; from < tasks; from += BATCH) await database.sql(insert(from, Math.min(tasks, from + BATCH)));
  await database.sql('ANALYZE ledger.tasks; ANALYZE ledger.steps; ANALYZE ledger.events');
}

/**
 * Past the triggers, which would have each of them begin as pending. Their positions are below all others, so
 * that no reader waits for them.
 */
function insert(from: number, to: number): string {
  return `SET session_replication_role = replica;
    WITH t AS (
      INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input, result, pin_valid_at, pin_revision, deadline, deadline_ms,
        created_at, updated_at)
      SELECT 'acme', 'history-' || n, '', '', 'history', 'history', 'completed', 1, 1, 0, '{}', '{}', now(), 0, now(), 3600000, now() - interval '1 day', now() - interval '1 day'
      FROM generate_series(${from + 1}, ${to}) n RETURNING task_seq, task_id
    ), s AS (
      INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, plan_key, role, executor, after, state, phase, round, attempt, spent, ring, silent_claims, beaten, applied, failures,
        candidates, claim_id, worker, ready_at, started_at, ended_at, output)
      SELECT task_seq, role, 0, 'acme', 'history', role, role, 'bench/noop', '[]', 'completed', 'done', 1, 1, 0, 1, 0, false, '[]', '[]', '[]', 'w:1', 'w', now(), now(), now(), '{}'
      FROM t CROSS JOIN unnest('{retriever,analyzer,generator,validator}'::text[]) AS role
    )
    INSERT INTO ledger.events (position, tenant_id, task_id, envelope)
    SELECT -7 * substr(task_id, 9)::int8 - e, 'acme', task_id, '{"type":"history"}' FROM t CROSS JOIN generate_series(0, 6) e;
    RESET session_replication_role`;
}
