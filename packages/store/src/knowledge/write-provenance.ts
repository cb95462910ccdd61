import type { Tx } from '../database.ts';

export type AuditEntry = {
  readonly tenantId: string;
  /** `accepted`, `duplicate`, `updated`, `disputed`, `rejected`, `dropped`, `held`, `settled`, `refused`. */
  readonly decision: string;
  readonly reason: string;
  readonly candidateId?: string | null;
  readonly knowledgeId?: string | null;
  readonly version?: number | null;
  readonly taskId?: string | null;
  readonly stepId?: string | null;
  readonly attempt?: number | null;
  readonly claimId?: string | null;
  readonly sourceMessageId: string;
};

/** One row for each decision, including each refusal. */
export async function insertAudit(tx: Tx, entries: readonly AuditEntry[], at: Date, revision: number): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(
    `INSERT INTO knowledge.audit (at, tenant_id, decision, reason, candidate_id, knowledge_id, version, task_id, step_id, attempt, claim_id, source_message_id, revision)
     SELECT $2, "tenantId", decision, reason, "candidateId", "knowledgeId", version, "taskId", "stepId", attempt, "claimId", "sourceMessageId", $3
     FROM json_to_recordset($1) AS x ("tenantId" text, decision text, reason text, "candidateId" text, "knowledgeId" text, version int,
       "taskId" text, "stepId" text, attempt int, "claimId" text, "sourceMessageId" text)`,
    [JSON.stringify(entries), at, revision],
  );
}

export type Sighting = {
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly version: number;
  readonly sourceType: string;
  readonly sourceRef: string;
  readonly sourceMessageId: string;
  readonly sourceTime: Date;
  readonly candidateId: string | null;
};

/** Somebody said the same again. */
export async function insertSightings(tx: Tx, sightings: readonly Sighting[], revision: number): Promise<void> {
  if (sightings.length === 0) return;
  await tx.query(
    `INSERT INTO knowledge.sightings (tenant_id, knowledge_id, version, source_type, source_ref, source_message_id, source_time, candidate_id, revision)
     SELECT "tenantId", "knowledgeId", version, "sourceType", "sourceRef", "sourceMessageId", "sourceTime", "candidateId", $2
     FROM json_to_recordset($1) AS x ("tenantId" text, "knowledgeId" text, version int, "sourceType" text, "sourceRef" text,
       "sourceMessageId" text, "sourceTime" timestamptz, "candidateId" text)`,
    [JSON.stringify(sightings), revision],
  );
}

export type Derivation = {
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly version: number;
  readonly upstreamId: string;
  readonly upstreamVersion: number;
  readonly revision: number;
};

/** What new versions declare themselves derived from; the same edge twice is one. */
export async function insertDerivations(tx: Tx, derivations: readonly Derivation[]): Promise<void> {
  if (derivations.length === 0) return;
  await tx.query(
    `INSERT INTO knowledge.relations (tenant_id, kind, downstream_kind, downstream_id, downstream_version, upstream_id, upstream_version, revisions)
     SELECT "tenantId", 'derived_from', 'fact', "knowledgeId", version, "upstreamId", "upstreamVersion", int8range(revision, NULL)
     FROM json_to_recordset($1) AS x ("tenantId" text, "knowledgeId" text, version int, "upstreamId" text, "upstreamVersion" int, revision int8)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(derivations)],
  );
}

export type Dispute = {
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly incumbentVersion: number;
  readonly candidateId: string | null;
  /** Everything the challenger says, so that it can still win. */
  readonly challenger: unknown;
  readonly challengerSignature: string;
  readonly reason: string;
  readonly incumbentScore: number | null;
  readonly challengerScore: number | null;
  readonly sourceMessageId: string;
};

/** Opens disputes as of `revision`. The same challenger against the same version is one open dispute. */
export async function insertDisputes(tx: Tx, disputes: readonly Dispute[], revision: number): Promise<void> {
  if (disputes.length === 0) return;
  await tx.query(
    `INSERT INTO knowledge.disputes (tenant_id, knowledge_id, incumbent_version, candidate_id, challenger, challenger_signature, reason,
       incumbent_score, challenger_score, source_message_id, revisions)
     SELECT DISTINCT ON ("tenantId", "knowledgeId", "incumbentVersion", "challengerSignature")
       "tenantId", "knowledgeId", "incumbentVersion", "candidateId", challenger, "challengerSignature", reason,
       "incumbentScore", "challengerScore", "sourceMessageId", int8range($2, NULL)
     FROM json_to_recordset($1) AS x ("tenantId" text, "knowledgeId" text, "incumbentVersion" int, "candidateId" text, challenger json,
       "challengerSignature" text, reason text, "incumbentScore" float8, "challengerScore" float8, "sourceMessageId" text)
     WHERE NOT EXISTS (
       SELECT FROM knowledge.disputes d WHERE d.tenant_id = "tenantId" AND d.knowledge_id = "knowledgeId" AND d.incumbent_version = "incumbentVersion"
         AND d.challenger_signature = "challengerSignature" AND upper_inf(d.revisions))`,
    [JSON.stringify(disputes), revision],
  );
}
