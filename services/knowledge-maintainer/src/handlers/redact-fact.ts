import { FactRedact, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import { toKeyedRequest, toRedactedHashes, toTombstone, WriteDraft } from '@cleanslate/domain';
import {
  type Database,
  eraseCandidates,
  findFactStates,
  findLastRedaction,
  insertAudit,
  insertKnowledgeOutbox,
  insertRedaction,
  type KnowledgeHead,
  keyRequests,
  type RedactableVersion,
  type Tx,
  takeRedactionKey,
} from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { cascade } from './cascade.ts';
import { toFactChanged } from './events.ts';
import { findContent, type RedactableContent } from './find-redactable.ts';
import { eraseChallengers, eraseCopies } from './redacted-copies.ts';
import { replySchema } from './reply-schema.ts';
import { type WrittenBatch, writeBatch } from './write-batch.ts';

type Request = RequestOf<typeof FactRedact>;
type Reply = ValueOf<typeof FactRedact>;

/**
 * Erases a fact's content from every table of knowledge, in one transaction, and leaves tombstones; the scheduler then
 * does the same in the ledger (`confirmErasures` learns of its end). What was believed until now no longer is. Throws
 * `NOT_FOUND`.
 */
export async function redactFact(database: Database, call: Call<Request>): Promise<Answered<Reply>> {
  const { also = [], ...data } = call.data;
  // The request is kept as a keyed hash: a plain hash of words that must be forgotten could be found by trying.
  return await answerOnce(database, { ...call, data }, replySchema(FactRedact), async (tx, head) => {
    const found = await findContent(tx, call);
    const fresh = found.versions.filter(({ redacted }) => !redacted);
    const reply = toReply(call.data, found);
    if (call.data.dryRun === true)
      return { reply: { ...reply, redactionId: null, revision: head.revision }, outbox: [] };
    if (fresh.length === 0 && also.length === 0) {
      const last = await findLastRedaction(tx, call.tenantId, call.data.knowledgeId);
      return {
        reply: { ...reply, redactionId: last?.redactionId ?? null, revision: last?.revision ?? head.revision },
        outbox: [],
      };
    }
    const { written, draft } = await endBelief(tx, head, call, fresh);
    const redactionId = await erase(tx, call, found, written);
    await cascade(tx, draft, [], written);
    const outbox = await tell(tx, call, found, written);
    return { reply: { ...reply, redactionId, revision: written.last }, outbox };
  });
}

/** The versions are no longer believed; a revision is used in any case. */
async function endBelief(
  tx: Tx,
  head: KnowledgeHead,
  { tenantId, data }: Call<Request>,
  fresh: readonly RedactableVersion[],
) {
  const { knowledgeId } = data;
  const going = new Set(fresh.map(({ version }) => version));
  const draft = new WriteDraft(
    await findFactStates(tx, [{ tenantId, knowledgeIds: [knowledgeId], factKeys: [], signatures: [] }]),
  );
  const always = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  draft.retract(tenantId, knowledgeId, always, ({ version }) => going.has(version));
  return { draft, written: await writeBatch(tx, head, draft, true) };
}

async function erase(
  tx: Tx,
  { tenantId, requestId, data }: Call<Request>,
  { versions, disputes, candidates, copies, phrases, keptOut }: RedactableContent,
  written: WrittenBatch,
): Promise<number> {
  const key = await takeRedactionKey(tx, tenantId);
  const fresh = versions.filter(({ redacted }) => !redacted);
  const tombstones = fresh.map((version) => {
    const [contentHash = '', signature = ''] = toRedactedHashes(key, version);
    return { version: version.version, signature, content_hash: contentHash };
  });
  const contents = keptOut.flatMap((content) => toRedactedHashes(key, content));
  const { knowledgeId, reason, by } = data;
  const redactionId = await insertRedaction(tx, {
    tenantId,
    knowledgeId,
    versions,
    tombstones,
    reason,
    by,
    requestId,
    phrases,
    contents,
    revision: written.last,
    at: written.at,
  });
  const bodies = candidates.map(({ candidateId, body }) => ({ candidateId, body: toTombstone(body) }));
  await eraseCandidates(tx, tenantId, bodies, written.at, written.last);
  await eraseChallengers(tx, tenantId, disputes, 'both_wrong', key, written);
  await eraseCopies(tx, tenantId, copies, key, written);
  await keyRequests(tx, tenantId, (bodyHash) => toKeyedRequest(key, bodyHash));
  return redactionId;
}

/** Who, when and why are in the audit; the events only say that it happened. */
async function tell(
  tx: Tx,
  { tenantId, requestId, data }: Call<Request>,
  { versions, candidates, disputes, copies }: RedactableContent,
  written: WrittenBatch,
) {
  const { knowledgeId, reason, by } = data;
  const unreadable = [
    ...candidates.filter(({ body }) => body === null).map(({ candidateId }) => `candidate ${candidateId}`),
    ...[...disputes, ...copies.disputes]
      .filter(({ challenger }) => challenger === null)
      .map(({ disputeId }) => `the challenger of dispute ${disputeId}`),
  ];
  const said = { tenantId, knowledgeId, decision: 'redacted', reason: `${by}: ${reason}`, sourceMessageId: requestId };
  await insertAudit(
    tx,
    [
      ...versions.map(({ version }) => ({ ...said, version })),
      ...unreadable.map((what) => ({ ...said, reason: `${what} can't be read and was erased whole` })),
    ],
    written.at,
    written.last,
  );
  const cause = { tenantId, at: written.at, causationId: requestId };
  const changed = {
    change: 'redacted',
    knowledgeId,
    revision: written.last,
    contentHash: null,
    taskId: null,
    reason: null,
  } as const;
  return await insertKnowledgeOutbox(
    tx,
    versions.map(({ version }) => toFactChanged(cause, { ...changed, version })),
  );
}

function toReply(
  { knowledgeId }: Request,
  { versions, candidates, disputes, copies, elsewhere }: RedactableContent,
): Omit<Reply, 'redactionId' | 'revision'> {
  return {
    knowledgeId,
    versions: versions.map(({ version }) => `${knowledgeId}@${version}`),
    candidates: candidates.length,
    disputes: disputes.length + copies.disputes.length,
    elsewhere,
  };
}
