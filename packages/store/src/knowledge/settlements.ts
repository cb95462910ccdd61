import { KnowledgeSettle } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import type { TaskName } from './candidates.ts';

/** What the scheduler said about a task, and in which message. */
export type TaskSettlement = TaskName &
  Pick<KnowledgeSettle, 'verdict' | 'validatorScore' | 'claims'> & { readonly messageId: string };

/** Stored settlements of these tasks; a task without one is left out. */
export async function findSettlements(tx: Tx, tasks: readonly TaskName[]): Promise<TaskSettlement[]> {
  const { rows } = await tx.query<
    TaskName & { verdict: string; score: number | null; claims: unknown; message: string }
  >(
    `SELECT s.tenant_id AS "tenantId", s.task_id AS "taskId", verdict, validator_score AS score, claims, message_id AS message
     FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS x (tenant_id, task_id)) t
     JOIN knowledge.settlements s ON s.tenant_id = t.tenant_id AND s.task_id = t.task_id`,
    [tasks.map((task) => task.tenantId), tasks.map((task) => task.taskId)],
  );
  return rows.map(({ tenantId, taskId, verdict, score, claims, message }) => ({
    tenantId,
    ...KnowledgeSettle.data.parse({ taskId, verdict, validatorScore: score, claims }),
    messageId: message,
  }));
}

/** Stores settlements as they now stand, one per task. */
export async function saveSettlements(tx: Tx, settlements: readonly TaskSettlement[]): Promise<void> {
  if (settlements.length === 0) return;
  await tx.query(
    `INSERT INTO knowledge.settlements (tenant_id, task_id, verdict, validator_score, claims, message_id)
     SELECT "tenantId", "taskId", verdict, "validatorScore", claims, "messageId"
     FROM json_to_recordset($1) AS x ("tenantId" text, "taskId" text, verdict text, "validatorScore" float8, claims json, "messageId" text)
     ON CONFLICT (tenant_id, task_id) DO UPDATE SET verdict = excluded.verdict, validator_score = excluded.validator_score,
       claims = excluded.claims, message_id = excluded.message_id, received_at = now()`,
    [JSON.stringify(settlements)],
  );
}
