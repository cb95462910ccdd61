import type { Tx } from '../database.ts';
import { STEP_OF_X } from './one-plan.ts';
import type { TaskKey } from './rows.ts';

/** Steps of one tenant and workflow that may go to one role. */
export type LineName = { readonly role: string; readonly tenantId: string; readonly workflow: string };

export type Line = LineName & {
  /** Steps of it were ready before this transaction. */
  readonly waits: boolean;
  /** Slots announced by the workers of the role. */
  readonly slots: number;
  /** The tenant whose step the role dispatched last. */
  readonly turn: string | null;
  readonly tenantLimit: number | null;
  readonly workflowLimit: number | null;
};

export type Room = {
  /** Every line in which a step waits, and the requested ones. */
  readonly lines: readonly Line[];
  /** Steps dispatched or executing. */
  readonly inFlight: readonly (LineName & { readonly steps: number })[];
};

/**
 * What there is to admit, and room for it. Takes the admission lock to the end of the transaction, so that two
 * schedulers can't assign the same room; undefined if another one has it. Never waits for it: tasks are locked by now.
 * Costs one index probe per line, however many steps wait in it.
 */
export async function takeRoom(tx: Tx, asked: readonly LineName[]): Promise<Room | undefined> {
  const [locked, lines, inFlight] = await Promise.all([
    tx.query<{ locked: boolean }>(`SELECT pg_try_advisory_xact_lock(hashtext('ledger.admission')) AS locked`),
    tx.query<Line>(
      `WITH RECURSIVE waiting AS (
         (SELECT role, tenant_id, workflow FROM ledger.steps WHERE phase = 'ready' ORDER BY role, tenant_id, workflow LIMIT 1)
         UNION ALL
         SELECT next.* FROM waiting w CROSS JOIN LATERAL (
           SELECT s.role, s.tenant_id, s.workflow FROM ledger.steps s
           WHERE s.phase = 'ready' AND (s.role, s.tenant_id, s.workflow) > (w.role, w.tenant_id, w.workflow) ORDER BY s.role, s.tenant_id, s.workflow LIMIT 1
         ) next
       ), line AS (
         SELECT role, tenant_id, workflow, bool_or(waits) AS waits FROM (
           SELECT *, true AS waits FROM waiting UNION ALL SELECT *, false FROM unnest($1::text[], $2::text[], $3::text[]) AS a(role, tenant_id, workflow)
         ) l GROUP BY 1, 2, 3
       )
       SELECT l.role, l.tenant_id AS "tenantId", l.workflow, l.waits,
         (SELECT coalesce(sum(slots), 0)::int4 FROM ledger.workers w WHERE w.role = l.role) AS slots,
         (SELECT t.tenant_id FROM ledger.turns t WHERE t.role = l.role) AS turn,
         (SELECT max_running FROM ledger.limits m WHERE m.tenant_id = l.tenant_id AND m.workflow = '') AS "tenantLimit",
         (SELECT max_running FROM ledger.limits m WHERE m.tenant_id = l.tenant_id AND m.workflow = l.workflow AND m.workflow <> '') AS "workflowLimit"
       FROM line l`,
      [asked.map((line) => line.role), asked.map((line) => line.tenantId), asked.map((line) => line.workflow)],
    ),
    // All steps in flight are sorted for this, which one text for the three names makes a quarter cheaper;
    // none of them has a space in it.
    tx.query<{ line: string; steps: number }>(
      `SELECT role || ' ' || tenant_id || ' ' || workflow AS line, count(*)::int4 AS steps FROM ledger.steps
       WHERE phase IN ('dispatched', 'executing') GROUP BY 1`,
    ),
  ]);
  if (locked.rows[0]?.locked !== true) return undefined;
  return {
    lines: lines.rows,
    inFlight: inFlight.rows.map(({ line, steps }) => {
      const [role = '', tenantId = '', workflow = ''] = line.split(' ');
      return { role, tenantId, workflow, steps };
    }),
  };
}

export type ReadyStep = TaskKey &
  LineName & {
    readonly stepId: string;
    /** 0 low, 1 normal, 2 high. */
    readonly priority: number;
    readonly readyAt: number;
  };

/** One that waited in line. */
export type WaitingStep = ReadyStep & { readonly taskSeq: number };

/** The heads of lines: for each priority those that have been ready longest, at most `limit`. */
export async function findReady(tx: Tx, lines: readonly LineName[], limit: number): Promise<readonly WaitingStep[]> {
  const { rows } = await tx.query<WaitingStep>(
    `SELECT s.role, s.tenant_id AS "tenantId", s.workflow, s.task_seq AS "taskSeq", (SELECT t.task_id FROM ledger.tasks t WHERE t.task_seq = s.task_seq) AS "taskId",
       s.step_id AS "stepId", s.priority, (extract(epoch FROM s.ready_at) * 1000)::int8 AS "readyAt"
     FROM unnest($1::text[], $2::text[], $3::text[]) AS l(role, tenant_id, workflow) CROSS JOIN unnest('{0,1,2}'::int2[]) AS p(priority) CROSS JOIN LATERAL (
       SELECT * FROM ledger.steps st WHERE st.phase = 'ready' AND st.role = l.role AND st.tenant_id = l.tenant_id AND st.workflow = l.workflow
         AND st.priority = p.priority ORDER BY st.role, st.tenant_id, st.workflow, st.priority, st.ready_at LIMIT $4
     ) s`,
    [lines.map((line) => line.role), lines.map((line) => line.tenantId), lines.map((line) => line.workflow), limit],
  );
  return rows;
}

export async function saveTurns(tx: Tx, turns: ReadonlyMap<string, string>): Promise<void> {
  if (turns.size === 0) return;
  await tx.query(
    `INSERT INTO ledger.turns (role, tenant_id) SELECT * FROM unnest($1::text[], $2::text[])
     ON CONFLICT (role) DO UPDATE SET tenant_id = excluded.tenant_id`,
    [[...turns.keys()], [...turns.values()]],
  );
}

/**
 * A step that has waited once is looked at again this much later: a new one shows within seconds that admission stands
 * still, and old ones must not become its main load.
 */
const LOOK_AGAIN_MS = 300_000;
const LOOKS = 1_000;

/** Ready steps that stay behind have been looked at: their due time is the next look. */
export async function setNextLooks(tx: Tx): Promise<void> {
  await tx.query(
    `UPDATE ledger.steps s SET due_at = now() + make_interval(secs => $1::float8 / 1000)
     FROM (SELECT task_seq, step_id FROM ledger.steps WHERE look_at <= now() AND phase = $3 AND due_at <= now() ORDER BY look_at LIMIT $2 FOR UPDATE SKIP LOCKED) x
     WHERE ${STEP_OF_X}`,
    // As a parameter, so that it does not lead to the index of ready steps.
    [LOOK_AGAIN_MS, LOOKS, 'ready'],
  );
}
