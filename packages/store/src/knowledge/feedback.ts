import type { Vote } from '@cleanslate/domain';
import type { Tx } from '../database.ts';
import { ADJUSTED_NOW, WEIGHT } from './fact-row.ts';

/** A version behind an answer. `base` is its source's weight, `weight` the present one. */
export type JudgedVersion = {
  readonly knowledgeId: string;
  readonly version: number;
  readonly base: number;
  readonly weight: number;
  readonly importance: number;
  readonly believed: boolean;
};

const JUDGED = `v.knowledge_id AS "knowledgeId", v.version, v.weight AS base, ${WEIGHT} AS weight,
  coalesce(a.importance, v.importance) AS importance, upper_inf(v.revisions) AS believed`;

/** The versions that a task's answer rests on. */
export async function findAnswerVersions(tx: Tx, tenantId: string, taskId: string): Promise<JudgedVersion[]> {
  const { rows } = await tx.query<JudgedVersion>(
    `SELECT ${JUDGED} FROM knowledge.relations r
     JOIN knowledge.fact_versions v ON v.tenant_id = r.tenant_id AND v.knowledge_id = r.upstream_id AND v.version = r.upstream_version ${ADJUSTED_NOW}
     WHERE r.tenant_id = $1 AND r.downstream_kind = 'answer' AND r.downstream_id = $2 ORDER BY v.knowledge_id, v.version`,
    [tenantId, taskId],
  );
  return rows;
}

export async function findJudgedVersion(
  tx: Tx,
  tenantId: string,
  knowledgeId: string,
  version: number,
): Promise<JudgedVersion | undefined> {
  const { rows } = await tx.query<JudgedVersion>(
    `SELECT ${JUDGED} FROM knowledge.fact_versions v ${ADJUSTED_NOW} WHERE v.tenant_id = $1 AND v.knowledge_id = $2 AND v.version = $3`,
    [tenantId, knowledgeId, version],
  );
  return rows[0];
}

export type NewFeedback = {
  readonly tenantId: string;
  readonly taskId: string;
  readonly person: string;
  readonly verdict: Vote['verdict'];
  readonly note: string | null;
  readonly facts: readonly { readonly knowledgeId: string; readonly version: number }[];
};

/** True if this person had said the same of this answer, and nothing was set aside since. */
export async function isRepeated(tx: Tx, { tenantId, taskId, person, verdict, facts }: NewFeedback): Promise<boolean> {
  const { rows } = await tx.query<{ known: number }>(
    `SELECT count(*) AS known FROM unnest($4::text[], $5::int[]) AS x (knowledge_id, version)
     JOIN knowledge.feedback f ON f.tenant_id = $1 AND f.knowledge_id = x.knowledge_id AND f.version = x.version AND f.person = $3 AND f.task_id = $2
     WHERE f.verdict = $6 AND f.counts`,
    [
      tenantId,
      taskId,
      person,
      facts.map(({ knowledgeId }) => knowledgeId),
      facts.map(({ version }) => version),
      verdict,
    ],
  );
  return rows[0]?.known === facts.length;
}

/** Keeps the note of somebody who says the same again. */
export async function saveNote(tx: Tx, { tenantId, taskId, person, note }: NewFeedback): Promise<void> {
  if (note === null) return;
  await tx.query('UPDATE knowledge.feedback SET note = $4 WHERE tenant_id = $1 AND task_id = $2 AND person = $3', [
    tenantId,
    taskId,
    person,
    note,
  ]);
}

/** Records what a person says of an answer; it replaces what they said of it before. */
export async function saveFeedback(tx: Tx, feedback: NewFeedback, at: Date, revision: number): Promise<void> {
  const { tenantId, taskId, person, verdict, note, facts } = feedback;
  await tx.query(
    `INSERT INTO knowledge.feedback (tenant_id, knowledge_id, version, person, task_id, verdict, note, said_at, revision)
     SELECT $1, x.knowledge_id, x.version, $3, $2, $6, $7, $8, $9 FROM unnest($4::text[], $5::int[]) AS x (knowledge_id, version)
     ON CONFLICT (tenant_id, knowledge_id, version, person, task_id) DO UPDATE SET verdict = excluded.verdict,
       note = coalesce(excluded.note, feedback.note), said_at = excluded.said_at, revision = excluded.revision, counts = true`,
    [
      tenantId,
      taskId,
      person,
      facts.map(({ knowledgeId }) => knowledgeId),
      facts.map(({ version }) => version),
      verdict,
      note,
      at,
      revision,
    ],
  );
}

/** What counts about a version, oldest first. */
export async function findVotes(
  tx: Tx,
  tenantId: string,
  { knowledgeId, version }: Pick<JudgedVersion, 'knowledgeId' | 'version'>,
): Promise<Vote[]> {
  const { rows } = await tx.query<Vote>(
    `SELECT person, verdict FROM knowledge.feedback WHERE tenant_id = $1 AND knowledge_id = $2 AND version = $3 AND counts
     ORDER BY revision, said_at, task_id`,
    [tenantId, knowledgeId, version],
  );
  return rows;
}

/** What was said of a version so far no longer counts. */
export async function setAside(tx: Tx, tenantId: string, knowledgeId: string, version: number): Promise<void> {
  await tx.query(
    'UPDATE knowledge.feedback SET counts = false WHERE tenant_id = $1 AND knowledge_id = $2 AND version = $3',
    [tenantId, knowledgeId, version],
  );
}

/** Gives versions another weight from a revision on; earlier ones keep theirs. */
export async function adjustWeights(
  tx: Tx,
  tenantId: string,
  versions: readonly (Pick<JudgedVersion, 'knowledgeId' | 'version' | 'importance'> & { readonly weight: number })[],
  { reason, messageId, revision }: { readonly reason: string; readonly messageId: string; readonly revision: number },
): Promise<void> {
  if (versions.length === 0) return;
  const names = [versions.map(({ knowledgeId }) => knowledgeId), versions.map(({ version }) => version)];
  await tx.query(
    `UPDATE knowledge.adjustments a SET revisions = int8range(lower(a.revisions), $4)
     FROM unnest($2::text[], $3::int[]) AS x (knowledge_id, version)
     WHERE a.tenant_id = $1 AND a.knowledge_id = x.knowledge_id AND a.version = x.version AND upper_inf(a.revisions)`,
    [tenantId, ...names, revision],
  );
  await tx.query(
    `INSERT INTO knowledge.adjustments (tenant_id, knowledge_id, version, weight, importance, reason, source_message_id, revisions)
     SELECT $1, x.knowledge_id, x.version, x.weight, x.importance, $6, $7, int8range($8, NULL)
     FROM unnest($2::text[], $3::int[], $4::float8[], $5::float8[]) AS x (knowledge_id, version, weight, importance)`,
    [
      tenantId,
      ...names,
      versions.map(({ weight }) => weight),
      versions.map(({ importance }) => importance),
      reason,
      messageId,
      revision,
    ],
  );
}
