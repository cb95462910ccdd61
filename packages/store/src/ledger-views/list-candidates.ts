import { Candidate, type CandidateOutcome, type CandidateView } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { parsePosition } from './page-token.ts';
import { toTime } from './rows.ts';

export type CandidateQuery = {
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
  readonly taskId?: string | undefined;
  readonly state?: CandidateView['state'] | undefined;
};

type CandidateRow = {
  readonly candidate_seq: number;
  readonly candidate_id: string;
  readonly task_id: string;
  readonly step_id: string;
  readonly attempt: number;
  readonly claim_id: string;
  readonly state: CandidateView['state'];
  readonly outcome: CandidateOutcome | null;
  readonly knowledge_id: string | null;
  readonly version: number | null;
  readonly reason: string | null;
  readonly said_at: Date;
  readonly settled_at: Date | null;
  readonly body: unknown;
};

/** In the text, not as a parameter: only then can the index of undecided candidates be used. */
const STATES = {
  waiting: ` AND state <> 'settled' AND state = 'waiting'`,
  held: ` AND state <> 'settled' AND state = 'held'`,
  settled: ` AND state = 'settled'`,
} as const satisfies Record<CandidateView['state'], string>;

/** The blackboard of the transaction's tenant, newest first. */
export async function listCandidates(
  tx: Tx,
  query: CandidateQuery,
): Promise<{ candidates: CandidateView[]; next: string | null }> {
  const limit = query.limit ?? 50;
  const { rows } = await tx.query<CandidateRow>(
    `SELECT candidate_seq, candidate_id, task_id, step_id, attempt, claim_id, state, outcome, knowledge_id, version, reason, said_at, settled_at, body
     FROM knowledge.candidates
     WHERE tenant_id = current_setting('cleanslate.tenant') AND candidate_seq < $1${query.state === undefined ? '' : STATES[query.state]}
       ${query.taskId === undefined ? 'AND $3::text IS NULL' : 'AND task_id = $3'}
     ORDER BY candidate_seq DESC LIMIT $2`,
    [parsePosition(query.before), limit, query.taskId ?? null],
  );
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { candidates: rows.map(toView), next: last === undefined ? null : String(last.candidate_seq) };
}

function toView(row: CandidateRow): CandidateView {
  return {
    candidateId: row.candidate_id,
    taskId: row.task_id,
    stepId: row.step_id,
    attempt: row.attempt,
    claimId: row.claim_id,
    state: row.state,
    outcome: row.outcome,
    knowledgeId: row.knowledge_id,
    version: row.version,
    reason: row.reason,
    saidAt: row.said_at.toISOString(),
    settledAt: toTime(row.settled_at),
    candidate: Candidate.parse(row.body),
  };
}
