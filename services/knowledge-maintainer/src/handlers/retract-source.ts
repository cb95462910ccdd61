import { AppError, FactRetractSource, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import { WriteDraft } from '@cleanslate/domain';
import {
  type Contribution,
  type Database,
  findChallenges,
  findContributions,
  findFactStates,
  findUndecided,
  insertAudit,
  insertKnowledgeOutbox,
  type KnowledgeHead,
  resolveDispute,
  type Source,
  saveCandidateChanges,
  type Tx,
} from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { cascade } from './cascade.ts';
import { toFactChanged } from './events.ts';
import { replySchema } from './reply-schema.ts';
import { type WrittenBatch, writeBatch } from './write-batch.ts';

type Request = RequestOf<typeof FactRetractSource>;
type Reply = ValueOf<typeof FactRetractSource>;

/** One transaction, one revision: more than this is a migration, not a source. */
const MOST = 20_000;
const TOLD = 1_000;

/**
 * Stops believing everything that a task or a document contributed. What others confirm stays, unless told otherwise.
 * Throws `INVALID_INPUT`.
 */
export async function retractSource(database: Database, call: Call<Request>): Promise<Answered<Reply>> {
  const { tenantId, data } = call;
  const source = toSource(data);
  return await answerOnce(database, call, replySchema(FactRetractSource), async (tx, head) => {
    const found = await findContributions(tx, tenantId, source, MOST + 1);
    if (found.length > MOST)
      throw new AppError(
        'INVALID_INPUT',
        `this source has more than ${MOST} believed facts: retract its tasks one by one`,
      );
    const going = found.filter(({ confirmed }) => data.evenConfirmed === true || !confirmed);
    const candidates = await findUndecided(tx, tenantId, source);
    const disputes = await findChallenges(tx, tenantId, source);
    const kept = found.filter((each) => !going.includes(each));
    const reply = {
      closed: toRefs(going),
      kept: toRefs(kept),
      candidates: candidates.length,
      disputes: disputes.length,
      facts: new Set(going.map(({ knowledgeId }) => knowledgeId)).size,
    };
    const nothing = going.length + candidates.length + disputes.length === 0;
    if (data.dryRun === true || nothing) return { reply: { ...reply, revision: head.revision }, outbox: [] };
    const written = await carryOut(tx, head, call, { going, candidates, disputes });
    const cause = { tenantId, at: written.at, causationId: call.requestId };
    const change = {
      change: 'retracted',
      revision: written.last,
      contentHash: null,
      taskId: null,
      reason: null,
    } as const;
    const outbox = await insertKnowledgeOutbox(
      tx,
      going.map(({ knowledgeId, version }) => toFactChanged(cause, { ...change, knowledgeId, version })),
    );
    return { reply: { ...reply, revision: written.last }, outbox };
  });
}

type Going = {
  readonly going: readonly Contribution[];
  readonly candidates: readonly string[];
  readonly disputes: readonly number[];
};

async function carryOut(
  tx: Tx,
  head: KnowledgeHead,
  call: Call<Request>,
  { going, candidates, disputes }: Going,
): Promise<WrittenBatch> {
  const { tenantId, requestId, data } = call;
  const byFact = Map.groupBy(going, ({ knowledgeId }) => knowledgeId);
  const draft = new WriteDraft(
    await findFactStates(tx, [{ tenantId, knowledgeIds: [...byFact.keys()], factKeys: [], signatures: [] }]),
  );
  const always = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  for (const [knowledgeId, versions] of byFact) {
    const gone = new Set(versions.map(({ version }) => version));
    draft.retract(tenantId, knowledgeId, always, ({ version }) => gone.has(version));
  }
  const written = await writeBatch(tx, head, draft, true);
  const said = { tenantId, sourceMessageId: requestId, decision: 'retracted', reason: data.reason };
  await insertAudit(
    tx,
    going.map(({ knowledgeId, version }) => ({ ...said, knowledgeId, version })),
    written.at,
    written.last,
  );
  const reason = 'its source was retracted';
  const settled = { state: 'settled', outcome: 'rejected', knowledgeId: null, version: null, reason } as const;
  await saveCandidateChanges(
    tx,
    candidates.map((candidateId) => ({ tenantId, candidateId, ...settled })),
    written.at,
    written.last,
  );
  const resolution = { resolution: 'incumbent', by: 'retraction of its source', reason: data.reason } as const;
  for (const disputeId of disputes) await resolveDispute(tx, disputeId, resolution, written.at, written.last);
  await cascade(tx, draft, [], written);
  return written;
}

function toSource({ taskId, sourceRef }: Request): Source {
  if (taskId !== undefined && sourceRef === undefined) return { taskId, sourceRef: null };
  if (sourceRef !== undefined && taskId === undefined) return { taskId: null, sourceRef };
  throw new AppError('INVALID_INPUT', 'give either taskId or sourceRef: whose contributions are meant', {
    details: { field: 'taskId' },
  });
}

function toRefs(versions: readonly Contribution[]): string[] {
  return versions.slice(0, TOLD).map(({ knowledgeId, version }) => `${knowledgeId}@${version}`);
}
