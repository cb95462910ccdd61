import { AppError, type FactImpact, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

const MOST = 1_000;
/** Circles end here. */
const FARTHEST = 50;

type ImpactRow = {
  readonly id: string;
  readonly version: number;
  readonly upstream_id: string;
  readonly upstream_version: number;
  readonly distance: number;
  readonly task_id: string | null;
  readonly believed: boolean;
};

/** What was derived from a fact of the transaction's tenant, nearest first. Throws `NOT_FOUND`. */
export async function findImpact(
  tx: Tx,
  { knowledgeId, version, answersAfter }: RequestOf<typeof FactImpact>,
): Promise<ValueOf<typeof FactImpact>> {
  const known = await tx.query(
    `SELECT FROM knowledge.fact_versions WHERE tenant_id = current_setting('cleanslate.tenant') AND knowledge_id = $1 AND ($2::int IS NULL OR version = $2) LIMIT 1`,
    [knowledgeId, version ?? null],
  );
  if (known.rows.length === 0)
    throw new AppError(
      'NOT_FOUND',
      `this tenant has no fact ${knowledgeId}${version === undefined ? '' : `@${version}`}`,
    );
  if (answersAfter !== undefined) {
    const answers = await findAnswers(tx, knowledgeId, version ?? null, answersAfter);
    return { facts: [], tasks: [], more: answers.length > MOST, answers: answers.slice(0, MOST), readers: [] };
  }
  const { rows } = await tx.query<ImpactRow>(
    `WITH RECURSIVE down AS (
       SELECT r.downstream_id AS id, r.downstream_version AS version, r.upstream_id, r.upstream_version, 1 AS distance
       FROM knowledge.relations r
       WHERE r.tenant_id = current_setting('cleanslate.tenant') AND r.upstream_id = $1 AND ($2::int IS NULL OR r.upstream_version = $2) AND r.downstream_kind = 'fact'
       UNION
       SELECT r.downstream_id, r.downstream_version, r.upstream_id, r.upstream_version, d.distance + 1
       FROM down d JOIN knowledge.relations r ON r.tenant_id = current_setting('cleanslate.tenant') AND r.upstream_id = d.id
         AND r.upstream_version = d.version AND r.downstream_kind = 'fact'
       WHERE d.distance < $3
     ), nearest AS (SELECT DISTINCT ON (id, version) * FROM down ORDER BY id, version, distance)
     SELECT n.*, v.task_id, upper_inf(v.revisions) AS believed
     FROM nearest n JOIN knowledge.fact_versions v
       ON v.tenant_id = current_setting('cleanslate.tenant') AND v.knowledge_id = n.id AND v.version = n.version
     ORDER BY n.distance, n.id, n.version LIMIT $4`,
    [knowledgeId, version ?? null, FARTHEST, MOST + 1],
  );
  const told = rows.slice(0, MOST);
  const answers = await findAnswers(tx, knowledgeId, version ?? null, null);
  const readers = await findReaders(tx, knowledgeId, version ?? null, new Set(answers.map(({ taskId }) => taskId)));
  return {
    facts: told.map((row) => ({
      fact: `${row.id}@${row.version}`,
      restsOn: `${row.upstream_id}@${row.upstream_version}`,
      distance: row.distance,
      taskId: row.task_id,
      believed: row.believed,
    })),
    tasks: [...new Set(told.flatMap(({ task_id }) => task_id ?? []))],
    more: [rows, answers, readers].some((list) => list.length > MOST),
    answers: answers.slice(0, MOST),
    readers: readers.slice(0, MOST),
  };
}

type Answer = NonNullable<ValueOf<typeof FactImpact>['answers']>[number];
type Reader = NonNullable<ValueOf<typeof FactImpact>['readers']>[number];

/**
 * Answers that rest on it, or on what was derived from it, behind that of a task; each once, by its nearest ground.
 * Throws `NOT_FOUND` where that task's answer is gone.
 */
async function findAnswers(
  tx: Tx,
  knowledgeId: string,
  version: number | null,
  after: string | null,
): Promise<Answer[]> {
  const { rows } = await tx.query<{ task_id: string; rests_on: string; distance: number; answered_at: Date }>(
    `WITH RECURSIVE ground AS (
       SELECT v.knowledge_id AS id, v.version, 1 AS distance FROM knowledge.fact_versions v
       WHERE v.tenant_id = current_setting('cleanslate.tenant') AND v.knowledge_id = $1 AND ($2::int IS NULL OR v.version = $2)
       UNION
       SELECT r.downstream_id, r.downstream_version, g.distance + 1
       FROM ground g JOIN knowledge.relations r ON r.tenant_id = current_setting('cleanslate.tenant') AND r.upstream_id = g.id
         AND r.upstream_version = g.version AND r.downstream_kind = 'fact'
       WHERE g.distance < $3
     ), nearest AS (
       SELECT DISTINCT ON (a.task_id) a.task_id, g.id || '@' || g.version AS rests_on, g.distance, a.answered_at
       FROM ground g JOIN knowledge.relations r ON r.tenant_id = current_setting('cleanslate.tenant') AND r.upstream_id = g.id
         AND r.upstream_version = g.version AND r.downstream_kind = 'answer'
       JOIN knowledge.answers a ON a.tenant_id = r.tenant_id AND a.task_id = r.downstream_id
       ORDER BY a.task_id, g.distance, g.id, g.version
     )
     SELECT * FROM nearest
     WHERE $5::text IS NULL OR (distance, answered_at, task_id) > (SELECT l.distance, l.answered_at, l.task_id FROM nearest l WHERE l.task_id = $5)
     ORDER BY distance, answered_at, task_id LIMIT $4`,
    [knowledgeId, version, FARTHEST, MOST + 1, after],
  );
  if (rows.length === 0 && after !== null) await requireAnswer(tx, after);
  return rows.map((row) => ({
    taskId: row.task_id,
    restsOn: row.rests_on,
    distance: row.distance,
    answeredAt: row.answered_at.toISOString(),
  }));
}

/** Behind an answer that is not there is nothing: that must not look like the end of the list. */
async function requireAnswer(tx: Tx, taskId: string): Promise<void> {
  const { rows } = await tx.query(
    `SELECT FROM knowledge.answers WHERE tenant_id = current_setting('cleanslate.tenant') AND task_id = $1`,
    [taskId],
  );
  if (rows.length > 0) return;
  throw new AppError('NOT_FOUND', `the answer of task ${taskId} is not known (any more): list from the start again`, {
    details: { field: 'answersAfter' },
  });
}

/** Who read it without building on it; each task once. */
async function findReaders(
  tx: Tx,
  knowledgeId: string,
  version: number | null,
  citing: ReadonlySet<string>,
): Promise<Reader[]> {
  const { rows } = await tx.query<{ task_id: string; step_id: string; version: number; at: Date }>(
    'SELECT task_id, step_id, version, at FROM knowledge.fact_readers($1, $2, $3) WHERE step_id <> $4',
    [knowledgeId, version, 4 * MOST, ''],
  );
  const readers = new Map(rows.filter(({ task_id }) => !citing.has(task_id)).map((row) => [row.task_id, row]));
  return [...readers.values()].map(({ task_id: taskId, step_id: stepId, version: read, at }) => {
    return { taskId, fact: `${knowledgeId}@${read}`, stepId, at: at.toISOString() };
  });
}
