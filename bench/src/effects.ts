import type { Platform } from '@cleanslate/testing';
import { type Latency, toLatency } from './latency.ts';

/**
 * A bench that can lose work measures nothing: every task completed once, each of its steps in one attempt, each event
 * given out once. Throws where it is not so.
 */
export async function assertEffects(
  { database }: Platform,
  expected: { readonly tasks: number; readonly steps: number },
): Promise<void> {
  const [row] = await database.sql(
    `SELECT (SELECT count(*)::int FROM ledger.tasks WHERE state = 'completed' AND workflow <> 'history') AS tasks, (SELECT count(*)::int FROM ledger.tasks WHERE state <> 'completed') AS others,
       (SELECT count(*)::int FROM ledger.transitions WHERE step_id IS NOT NULL AND to_state = 'completed') AS steps,
       (SELECT count(*)::int FROM ledger.steps WHERE attempt <> 1 OR spent <> 0) AS repeated, (SELECT count(*)::int FROM ledger.dead_letters) AS letters,
       (SELECT count(*)::int FROM ledger.events WHERE envelope->>'type' = 'task.transitioned.v1' AND envelope->'data'->>'to' = 'completed') AS told,
       (SELECT count(*)::int FROM ledger.unaccounted_tasks) AS unaccounted`,
  );
  const wanted = { ...expected, others: 0, repeated: 0, letters: 0, told: expected.tasks, unaccounted: 0 };
  for (const [what, count] of Object.entries(wanted))
    if (row?.[what] !== count)
      throw new Error(`effects are wrong: ${JSON.stringify(row)}, not ${JSON.stringify(wanted)}`);
}

/**
 * From the commit that dispatched a step to the claim, by the ledger's clock, of the newest tasks. (A pure step
 * is claimed when it is done.)
 */
export async function readDispatchToStart({ database }: Platform, tasks: number): Promise<Latency> {
  const rows = await database.sql<{ ms: number }>(
    `SELECT (extract(epoch FROM started_at - ready_at) * 1000)::float8 AS ms FROM ledger.steps
     WHERE task_seq IN (SELECT task_seq FROM ledger.tasks ORDER BY task_seq DESC LIMIT ${tasks})`,
  );
  return toLatency(rows.map(({ ms }) => ms));
}
