import { type DraftClosing, type DraftVersion, type FactBody, TERM_NORMALISER, toBound } from '@cleanslate/domain';
import { sent, type Tx } from '../database.ts';
import { type CountedVersion, growCorpus } from './corpus.ts';
import { toLexemes } from './lexemes.ts';

/** Wall time and first revision of the batch; waves count on from it. */
export type BatchClock = { readonly firstRevision: number; readonly at: Date };

/** Ends the belief in versions: the only change that a version ever sees. */
export async function closeVersions(tx: Tx, closings: readonly DraftClosing[], clock: BatchClock): Promise<void> {
  if (closings.length === 0) return;
  await tx.query(
    `UPDATE knowledge.fact_versions v SET revisions = int8range(lower(v.revisions), x.revision)
     FROM unnest($1::text[], $2::text[], $3::int[], $4::int8[]) AS x (tenant_id, knowledge_id, version, revision)
     WHERE v.tenant_id = x.tenant_id AND v.knowledge_id = x.knowledge_id AND v.version = x.version`,
    [
      closings.map((closing) => closing.tenantId),
      closings.map((closing) => closing.knowledgeId),
      closings.map((closing) => closing.version),
      closings.map((closing) => clock.firstRevision + closing.wave),
    ],
  );
}

/** This many versions are written while the next are prepared. */
const SLICE = 100;

/** Writes new versions with their lexemes. Those that they replace must have been closed before. */
export async function insertVersions(tx: Tx, versions: readonly DraftVersion[], clock: BatchClock): Promise<void> {
  if (versions.length === 0) return;
  const slices = Array.from({ length: Math.ceil(versions.length / SLICE) }, (_, nth) =>
    versions.slice(nth * SLICE, (nth + 1) * SLICE),
  );
  const counted = await Promise.all(slices.map((slice) => sent().then(() => insertSlice(tx, slice, clock))));
  await growCorpus(tx, counted.flat());
}

/** One JSON parameter: 28 parallel arrays could not carry the tags. Returns what each added to its tenant's corpus. */
async function insertSlice(tx: Tx, versions: readonly DraftVersion[], clock: BatchClock): Promise<CountedVersion[]> {
  const records = versions.map((version) => ({
    ...toVersionRecord(version, clock),
    ...toLexemes(version.tenantId, version.body.statement),
  }));
  await tx.query(
    `WITH incoming AS MATERIALIZED (
       SELECT x.*, nextval('knowledge.fact_versions_fact_seq_seq') AS fact_seq FROM json_to_recordset($1) AS x (
         tenant_id text, knowledge_id text, version int, statement text, subject text, predicate text, value text, unit text, polarity text,
         modality text, fact_key text, signature text, content_hash text, knowledge_type text, layer text, source_type text, source_ref text,
         lineage text[], lineage_trust text, source_message_id text, source_time timestamptz, task_id text, candidate_id text,
         weight float8, confidence float8, importance float8, validator_score float8, access_level text, sensitivity text, tags text[],
         valid_from timestamptz, valid_until timestamptz, revision_from int8, revision_until int8, terms text, length int)
     ), written AS (
       INSERT INTO knowledge.fact_versions (
         fact_seq, tenant_id, knowledge_id, version, statement, subject, predicate, value, unit, polarity, modality, fact_key, signature, content_hash,
         knowledge_type, layer, source_type, source_ref, lineage, lineage_trust, source_message_id, source_time, task_id, candidate_id,
         weight, confidence, importance, validator_score, access_level, sensitivity, tags, valid, revisions)
       OVERRIDING SYSTEM VALUE
       SELECT fact_seq, tenant_id, knowledge_id, version, statement, subject, predicate, value, unit, polarity, modality, fact_key, signature, content_hash,
         knowledge_type, layer, source_type, source_ref, lineage, lineage_trust, source_message_id, source_time, task_id, candidate_id,
         weight, confidence, importance, validator_score, access_level, sensitivity, tags,
         tstzrange(valid_from, valid_until), int8range(revision_from, revision_until)
       FROM incoming
     )
     INSERT INTO knowledge.fact_lexemes (fact_seq, tenant_id, revision_from, length, terms, normaliser)
     SELECT fact_seq, tenant_id, revision_from, length, terms::tsvector, $2 FROM incoming`,
    [JSON.stringify(records), TERM_NORMALISER],
  );
  return records.map(({ tenant_id, revision_from, length }) => ({
    tenantId: tenant_id,
    revision: revision_from,
    terms: length,
  }));
}

/**
 * Appends to the event log what `closeVersions` and `insertVersions` did, so that the tables can be rebuilt from it.
 */
export async function insertFactLog(
  tx: Tx,
  versions: readonly DraftVersion[],
  closings: readonly DraftClosing[],
  clock: BatchClock,
): Promise<void> {
  const entries = [
    ...closings.map((closing) => toLogEntry('closed', closing, clock.firstRevision + closing.wave, {})),
    ...versions.flatMap((version) => {
      const { revision_from, revision_until, ...record } = toVersionRecord(version, clock);
      const asserted = toLogEntry('asserted', version, revision_from, { ...record, remainder_of: version.remainderOf });
      return revision_until === null ? [asserted] : [asserted, toLogEntry('closed', version, revision_until, {})];
    }),
  ];
  if (entries.length === 0) return;
  // Within a revision beliefs end before others begin.
  const inOrder = entries.sort(
    (a, b) => a.revision - b.revision || (a.kind === b.kind ? 0 : a.kind === 'closed' ? -1 : 1),
  );
  await tx.query(
    `INSERT INTO knowledge.fact_log (at, revision, ordinal, tenant_id, knowledge_id, version, kind, body)
     SELECT $2, x.revision, x.ordinal, x.tenant_id, x.knowledge_id, x.version, x.kind, x.body
     FROM json_to_recordset($1) AS x (revision int8, ordinal int, tenant_id text, knowledge_id text, version int, kind text, body json)`,
    [JSON.stringify(inOrder.map((entry, ordinal) => ({ ...entry, ordinal }))), clock.at],
  );
}

type Named = { readonly tenantId: string; readonly knowledgeId: string; readonly version: number };

function toLogEntry(kind: 'asserted' | 'closed', fact: Named, revision: number, body: object) {
  const { tenantId, knowledgeId, version } = fact;
  return { kind, revision, tenant_id: tenantId, knowledge_id: knowledgeId, version, body };
}

/** A version by column names. */
function toVersionRecord(version: DraftVersion, clock: BatchClock) {
  return {
    tenant_id: version.tenantId,
    knowledge_id: version.knowledgeId,
    version: version.version,
    ...toBodyRecord(version.body),
    valid_from: toBound(version.valid.from),
    valid_until: toBound(version.valid.until),
    revision_from: clock.firstRevision + version.wave,
    revision_until: version.untilWave === null ? null : clock.firstRevision + version.untilWave,
  };
}

function toBodyRecord(body: FactBody) {
  return {
    statement: body.statement,
    subject: body.assertion?.subject ?? null,
    predicate: body.assertion?.predicate ?? null,
    value: body.assertion?.value ?? null,
    unit: body.assertion?.unit ?? null,
    polarity: body.assertion?.polarity ?? null,
    modality: body.assertion?.modality ?? null,
    fact_key: body.factKey,
    signature: body.signature,
    content_hash: body.contentHash,
    knowledge_type: body.knowledgeType,
    layer: body.layer,
    source_type: body.sourceType,
    source_ref: body.sourceRef,
    lineage: body.lineage.roots,
    lineage_trust: body.lineage.trust,
    source_message_id: body.sourceMessageId,
    source_time: new Date(body.sourceTime).toISOString(),
    task_id: body.taskId,
    candidate_id: body.candidateId,
    weight: body.weight,
    confidence: body.confidence,
    importance: body.importance,
    validator_score: body.validatorScore,
    access_level: body.accessLevel,
    sensitivity: body.sensitivity,
    tags: body.tags,
  };
}
