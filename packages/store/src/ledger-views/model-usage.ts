import type { ModelUsageView } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

/** What a task of the transaction's tenant used of each model. */
export async function findModelUsage(tx: Tx, taskId: string): Promise<ModelUsageView[]> {
  const { rows } = await tx.query<ModelUsageView>(
    `SELECT u.model, u.requests::float8 AS requests, u.prompt_tokens::float8 AS "promptTokens",
       u.completion_tokens::float8 AS "completionTokens", u.cost
     FROM ledger.tasks t JOIN ledger.task_model_usage u ON u.task_seq = t.task_seq
     WHERE t.tenant_id = current_setting('cleanslate.tenant') AND t.task_id = $1 ORDER BY u.model`,
    [taskId],
  );
  return rows;
}
