import type { Tx } from '../database.ts';

export type FactRead = {
  readonly tenantId: string;
  readonly taskId: string;
  readonly stepId: string;
  readonly attempt: number;
  readonly at: string;
  readonly knowledgeId: string;
  readonly version: number;
  /** From 1: its place in what the step put out. */
  readonly rank: number;
};

/** Which versions steps brought into their tasks. Said again, it changes nothing. */
export async function insertReads(tx: Tx, reads: readonly FactRead[], revision: number): Promise<void> {
  await insertUsage(
    tx,
    reads.map((read) => ({ ...read, purpose: 'read' })),
    revision,
  );
}

export type NewAnswer = {
  readonly tenantId: string;
  readonly taskId: string;
  readonly at: string;
  /** The moment it was asked about; null: the present. */
  readonly holdsAt: string | null;
  readonly facts: readonly { readonly knowledgeId: string; readonly version: number }[];
};

/** Completed tasks whose answers are in the graph already. */
export async function findAnswered(
  tx: Tx,
  tasks: readonly { tenantId: string; taskId: string }[],
): Promise<Set<string>> {
  if (tasks.length === 0) return new Set();
  const { rows } = await tx.query<{ key: string }>(
    `SELECT a.tenant_id || '/' || a.task_id AS key FROM unnest($1::text[], $2::text[]) AS x (tenant_id, task_id)
     JOIN knowledge.answers a ON a.tenant_id = x.tenant_id AND a.task_id = x.task_id`,
    [tasks.map(({ tenantId }) => tenantId), tasks.map(({ taskId }) => taskId)],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Writes answers with their edges, as of `revision`. Those that are there already must have been left out. */
export async function insertAnswers(tx: Tx, answers: readonly NewAnswer[], revision: number): Promise<void> {
  if (answers.length === 0) return;
  const edges = answers.flatMap(({ tenantId, taskId, at, facts }) =>
    facts.map(({ knowledgeId, version }, index) => ({
      tenantId,
      taskId,
      at,
      knowledgeId,
      version,
      stepId: '',
      attempt: 0,
      rank: index + 1,
      purpose: 'cited',
    })),
  );
  await tx.query(
    `INSERT INTO knowledge.answers (tenant_id, task_id, answered_at, holds_at, revision)
     SELECT "tenantId", "taskId", at, "holdsAt", $2 FROM json_to_recordset($1) AS x ("tenantId" text, "taskId" text, at timestamptz, "holdsAt" timestamptz)`,
    [JSON.stringify(answers), revision],
  );
  await tx.query(
    `INSERT INTO knowledge.relations (tenant_id, kind, downstream_kind, downstream_id, downstream_version, upstream_id, upstream_version, revisions)
     SELECT "tenantId", 'derived_from', 'answer', "taskId", 1, "knowledgeId", version, int8range($2, NULL)
     FROM json_to_recordset($1) AS x ("tenantId" text, "taskId" text, "knowledgeId" text, version int) ON CONFLICT DO NOTHING`,
    [JSON.stringify(edges), revision],
  );
  await insertUsage(tx, edges, revision);
}

async function insertUsage(
  tx: Tx,
  usage: readonly (FactRead & { readonly purpose: string })[],
  revision: number,
): Promise<void> {
  if (usage.length === 0) return;
  await tx.query(
    `INSERT INTO knowledge.fact_usage (at, tenant_id, task_id, step_id, attempt, knowledge_id, version, revision, rank, purpose)
     SELECT at, "tenantId", "taskId", "stepId", attempt, "knowledgeId", version, $2, rank, purpose
     FROM json_to_recordset($1) AS x (at timestamptz, "tenantId" text, "taskId" text, "stepId" text, attempt int, "knowledgeId" text, version int, rank int, purpose text)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(usage), revision],
  );
}
