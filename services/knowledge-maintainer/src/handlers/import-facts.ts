import { canonicalJson, FactImportSet, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import { decideImport, type ImportOutcome, type ImportSource, sha256, WriteDraft } from '@cleanslate/domain';
import {
  type Database,
  findFactStates,
  insertAudit,
  insertDisputes,
  insertKnowledgeOutbox,
  type Tx,
} from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { cascade } from './cascade.ts';
import { toFactChanged } from './events.ts';
import { refuseRedacted } from './keep-out.ts';
import { replySchema } from './reply-schema.ts';
import { writeBatch } from './write-batch.ts';

export type ImportCall = Call<RequestOf<typeof FactImportSet>>;
export type Imported = Answered<ValueOf<typeof FactImportSet>>;

/**
 * Imports a set, all or nothing, in one transaction. Throws `INVALID_INPUT`, `FACT_OVERLAP` (field
 * named), `IDEMPOTENCY_CONFLICT`.
 */
export async function importFacts(database: Database, call: ImportCall): Promise<Imported> {
  return await answerOnce(database, call, replySchema(FactImportSet), async (tx, head) => {
    await refuseRedacted(tx, call.tenantId, call.data.facts);
    const knowledgeIds = call.data.facts.map((fact) => fact.knowledgeId);
    const lookup = { tenantId: call.tenantId, knowledgeIds, factKeys: [], signatures: [] };
    const draft = new WriteDraft(await findFactStates(tx, [lookup]));
    const { sourceRef, sourceType } = call.data;
    const source: ImportSource = { sourceRef, sourceType, messageId: call.requestId, saidAt: head.now.getTime() };
    const outcomes = decideImport(draft, call.tenantId, call.data.facts, source);
    const disputed = outcomes.filter(({ outcome }) => outcome === 'disputed');
    const written = await writeBatch(tx, head, draft, disputed.length > 0);
    await auditImport(tx, call, outcomes, written.at, written.last);
    await insertDisputes(
      tx,
      disputed.flatMap((item) => toDisputes(call, item)),
      written.last,
    );
    await cascade(tx, draft, [], written);
    const reply = {
      revision: written.last,
      outcomes: outcomes.map(({ knowledgeId, outcome, versions }) => ({
        knowledgeId,
        outcome,
        versions: [...versions],
      })),
    };
    const outbox = await insertKnowledgeOutbox(tx, toEvents(call, draft, outcomes, written.at, written.last));
    return { reply, outbox };
  });
}

async function auditImport(
  tx: Tx,
  call: ImportCall,
  outcomes: readonly ImportOutcome[],
  at: Date,
  revision: number,
): Promise<void> {
  const entries = outcomes.map(({ knowledgeId, outcome, versions, reason }) => ({
    tenantId: call.tenantId,
    decision: outcome,
    reason,
    knowledgeId,
    version: versions.at(-1) ?? null,
    sourceMessageId: call.requestId,
  }));
  await insertAudit(tx, entries, at, revision);
}

/** One for each version that it contradicts: whoever decides may keep one of them and retract another. */
function toDisputes(call: ImportCall, { knowledgeId, versions, reason }: ImportOutcome) {
  const challenger = call.data.facts.find((fact) => fact.knowledgeId === knowledgeId);
  const challengerSignature = sha256(canonicalJson(challenger));
  return versions.map((incumbentVersion) => ({
    tenantId: call.tenantId,
    knowledgeId,
    incumbentVersion,
    challenger,
    challengerSignature,
    reason,
    candidateId: null,
    incumbentScore: null,
    challengerScore: null,
    sourceMessageId: call.requestId,
  }));
}

/** One event for each version that now says something new; none for what was known already. */
function toEvents(call: ImportCall, draft: WriteDraft, outcomes: readonly ImportOutcome[], at: Date, revision: number) {
  const outcomeOf = new Map(outcomes.map((item) => [item.knowledgeId, item.outcome]));
  const cause = { tenantId: call.tenantId, at, causationId: call.requestId };
  return draft.versions
    .filter(({ remainderOf }) => remainderOf === null)
    .map(({ knowledgeId, version, body }) =>
      toFactChanged(cause, {
        change: outcomeOf.get(knowledgeId) === 'updated' ? 'updated' : 'accepted',
        knowledgeId,
        version,
        revision,
        contentHash: body.contentHash,
        taskId: null,
        reason: null,
      }),
    );
}
