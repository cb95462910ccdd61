import { Candidate, type CandidateOutcome } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

export type TaskName = { readonly tenantId: string; readonly taskId: string };

export type NewCandidate = TaskName & {
  readonly candidateId: string;
  readonly stepId: string;
  readonly attempt: number;
  readonly claimId: string;
  readonly epoch: number | null;
  readonly messageId: string;
  readonly body: Candidate;
  readonly saidAt: string;
};

export type StoredCandidate = Omit<NewCandidate, 'saidAt'> & {
  readonly saidAt: Date;
  readonly state: 'waiting' | 'held' | 'settled';
  readonly outcome: CandidateOutcome | null;
  readonly knowledgeId: string | null;
  readonly version: number | null;
};

/**
 * Stores candidates as waiting; one whose id is known changes nothing. Returns those that were new. Times in the future
 * count as now.
 */
export async function insertCandidates(
  tx: Tx,
  candidates: readonly NewCandidate[],
): Promise<{ tenantId: string; candidateId: string }[]> {
  if (candidates.length === 0) return [];
  const { rows } = await tx.query<{ tenantId: string; candidateId: string }>(
    `INSERT INTO knowledge.candidates (tenant_id, candidate_id, task_id, step_id, attempt, claim_id, epoch, message_id, body, said_at, state)
     SELECT "tenantId", "candidateId", "taskId", "stepId", attempt, "claimId", epoch, "messageId", body, least("saidAt", clock_timestamp()), 'waiting'
     FROM json_to_recordset($1) AS x ("tenantId" text, "candidateId" text, "taskId" text, "stepId" text, attempt int, "claimId" text,
       epoch int8, "messageId" text, body json, "saidAt" timestamptz)
     ON CONFLICT DO NOTHING RETURNING tenant_id AS "tenantId", candidate_id AS "candidateId"`,
    [JSON.stringify(candidates)],
  );
  return rows;
}

type CandidateRow = Omit<StoredCandidate, 'body'> & { body: unknown };

/** All candidates of these tasks, in whatever state, in the order in which they were proposed. */
export async function findTaskCandidates(tx: Tx, tasks: readonly TaskName[]): Promise<StoredCandidate[]> {
  const { rows } = await tx.query<CandidateRow>(
    `SELECT c.tenant_id AS "tenantId", c.task_id AS "taskId", candidate_id AS "candidateId", step_id AS "stepId", attempt, claim_id AS "claimId",
       epoch, message_id AS "messageId", body, said_at AS "saidAt", state, outcome, knowledge_id AS "knowledgeId", version
     FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS x (tenant_id, task_id)) t
     JOIN knowledge.candidates c ON c.tenant_id = t.tenant_id AND c.task_id = t.task_id
     ORDER BY said_at, candidate_seq`,
    [tasks.map((task) => task.tenantId), tasks.map((task) => task.taskId)],
  );
  return rows.map((row) => ({ ...row, body: Candidate.parse(row.body) }));
}

export type CandidateChange = {
  readonly tenantId: string;
  readonly candidateId: string;
  readonly state: 'held' | 'settled';
  readonly outcome: CandidateOutcome | null;
  readonly knowledgeId: string | null;
  readonly version: number | null;
  readonly reason: string;
};

/** Records the outcome of candidates. A settled one is never touched again. */
export async function saveCandidateChanges(
  tx: Tx,
  changes: readonly CandidateChange[],
  at: Date,
  revision: number,
): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(
    `UPDATE knowledge.candidates c SET state = x.state, outcome = x.outcome, knowledge_id = x."knowledgeId", version = x.version, reason = x.reason,
       revision = $3, settled_at = CASE WHEN x.state = 'settled' THEN $2::timestamptz END
     FROM json_to_recordset($1) AS x ("tenantId" text, "candidateId" text, state text, outcome text, "knowledgeId" text, version int, reason text)
     WHERE c.tenant_id = x."tenantId" AND c.candidate_id = x."candidateId" AND c.state <> 'settled'`,
    [JSON.stringify(changes), at, revision],
  );
}
