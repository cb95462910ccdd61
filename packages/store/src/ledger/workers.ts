import type { Fence, Heartbeat, HeartbeatReply } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { toNumberArray, toTextArray } from './arrays.ts';
import { PHASE, STEP_OF_X } from './one-plan.ts';
import { BY_TASK_ID } from './submits.ts';

type ClaimRef = HeartbeatReply['lost'][number];
type ClaimState = { worker: string; n: number; holds: boolean; cancelled: boolean };

/**
 * Applies a batch of heartbeats: slots announced, leases of running claims extended. Answers, per worker, which claims
 * are lost or cancelled and which reported ones are settled (their report was applied or found stale).
 */
export async function applyHeartbeats(
  tx: Tx,
  epoch: number,
  beats: readonly Heartbeat[],
  leaseMs: number,
): Promise<ReadonlyMap<string, Omit<HeartbeatReply, 'leaseMs'>>> {
  await tx.query(
    `INSERT INTO ledger.workers (worker_id, role, slots, free, seen_at)
     SELECT DISTINCT ON (w) w, r, s, f, now() FROM unnest($1::text[], $2::text[], $3::int4[], $4::int4[]) AS x(w, r, s, f) ORDER BY w
     ON CONFLICT (worker_id) DO UPDATE SET slots = excluded.slots, free = excluded.free, seen_at = excluded.seen_at`,
    [
      beats.map((beat) => beat.worker),
      beats.map((beat) => beat.role),
      beats.map((beat) => beat.slots),
      beats.map((beat) => beat.free),
    ],
  );
  const claims = beats.flatMap((beat) =>
    [...beat.running, ...beat.reported].map((fence) => ({ worker: beat.worker, fence })),
  );
  const states = claims.length === 0 ? [] : await extendLeases(tx, epoch, claims, leaseMs);
  const stateOf = new Map(states.map((state) => [state.n, state]));
  let n = 0;
  return new Map(
    beats.map((beat) => {
      const answer: { lost: ClaimRef[]; cancelled: ClaimRef[]; settled: ClaimRef[] } = {
        lost: [],
        cancelled: [],
        settled: [],
      };
      for (const fence of beat.running) {
        const state = stateOf.get(++n);
        if (state?.holds !== true) (state?.cancelled ? answer.cancelled : answer.lost).push(toRef(fence));
      }
      for (const fence of beat.reported) {
        if (stateOf.get(++n)?.holds !== true) answer.settled.push(toRef(fence));
      }
      return [beat.worker, answer];
    }),
  );
}

/**
 * A lease is extended once a good part of it is over, not at each beat: most steps are done by then, and a row written
 * each second for each claim would be the ledger's main load. A step that a batch is changing right now is skipped, not
 * waited for: its lease is decided there, and the next beat comes in a second.
 */
async function extendLeases(
  tx: Tx,
  epoch: number,
  claims: readonly { worker: string; fence: Fence }[],
  leaseMs: number,
): Promise<readonly ClaimState[]> {
  const fences = claims.map((claim) => claim.fence);
  const { rows } = await tx.query<ClaimState>(
    `WITH asked AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int4[], $5::text[], $6::int8[]) WITH ORDINALITY AS k(tenant_id, task_id, step_id, attempt, claim_id, epoch, n)
     ), known AS (
       SELECT k.n, s.task_seq, s.step_id, k.epoch = $7 AND s.phase = 'executing' AND s.attempt = k.attempt AND s.claim_id = k.claim_id AS holds,
         t.error->>'code' = 'CANCELLED' AS cancelled
       FROM asked k CROSS JOIN LATERAL (SELECT t.task_seq, t.error FROM ledger.tasks t WHERE ${BY_TASK_ID}) t
       CROSS JOIN LATERAL (SELECT * FROM ledger.steps s WHERE s.task_seq = t.task_seq AND s.step_id = k.step_id LIMIT 1) s
     ), locked AS (
       SELECT s.task_seq, s.step_id FROM ledger.steps s JOIN known x ON ${STEP_OF_X} WHERE x.holds AND s.due_at < now() + make_interval(secs => $8::float8 / 1000 * CASE WHEN s.beaten THEN 0.7 ELSE 0.95 END)
       FOR UPDATE OF s SKIP LOCKED
     ), extended AS (
       UPDATE ledger.steps s SET due_at = now() + make_interval(secs => $8::float8 / 1000), beaten = true
       FROM locked x WHERE ${STEP_OF_X} AND ${PHASE} = 'executing'
     )
     SELECT n::int4 AS n, coalesce(holds, false) AS holds, coalesce(cancelled, false) AS cancelled FROM known`,
    [
      toTextArray(fences.map((fence) => fence.tenantId)),
      toTextArray(fences.map((fence) => fence.taskId)),
      toTextArray(fences.map((fence) => fence.stepId)),
      toNumberArray(fences.map((fence) => fence.attempt)),
      toTextArray(fences.map((fence) => fence.claimId)),
      toNumberArray(fences.map((fence) => fence.epoch)),
      epoch,
      leaseMs,
    ],
  );
  return rows;
}

/** Workers not heard of for three heartbeats no longer count as slots. */
export async function forgetSilentWorkers(tx: Tx, silentMs: number): Promise<void> {
  await tx.query('DELETE FROM ledger.workers WHERE seen_at < now() - make_interval(secs => $1::float8 / 1000)', [
    silentMs,
  ]);
}

function toRef({ taskId, stepId, attempt, claimId }: Fence): ClaimRef {
  return { taskId, stepId, attempt, claimId };
}
