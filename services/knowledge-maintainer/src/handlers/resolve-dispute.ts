import { AppError, FactResolve, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import { WriteDraft } from '@cleanslate/domain';
import {
  type Database,
  findDispute,
  findFactStates,
  findFactVersions,
  insertAudit,
  insertDerivations,
  insertKnowledgeOutbox,
  type StoredDispute,
  resolveDispute as saveResolution,
  type Tx,
} from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { carryOut, toDerivations } from './carry-out-resolution.ts';
import { cascade } from './cascade.ts';
import { toFactChanged } from './events.ts';
import { refuseChallenger } from './keep-out.ts';
import { replySchema } from './reply-schema.ts';
import { type WrittenBatch, writeBatch } from './write-batch.ts';

type Request = RequestOf<typeof FactResolve>;
const RESOLUTION = { incumbent: 'incumbent', challenger: 'challenger', neither: 'both_wrong' } as const;
/** What a resolution means for the incumbent, for events and audit. */
const CHANGE = { incumbent: 'rejected', challenger: 'updated', both_wrong: 'retracted' } as const;

/**
 * A person decides who is right. Throws `NOT_FOUND`; `FACT_CONFLICT` if it was settled before, or what would be
 * retracted is no longer believed; `INVALID_INPUT` for a challenger that says what was redacted.
 */
export async function resolveDispute(
  database: Database,
  call: Call<Request>,
): Promise<Answered<ValueOf<typeof FactResolve>>> {
  const { tenantId, requestId, data } = call;
  const resolution = RESOLUTION[data.keep];
  return await answerOnce(database, call, replySchema(FactResolve), async (tx, head) => {
    const dispute = await findDispute(tx, tenantId, data.disputeId);
    if (dispute === undefined) throw unknownDispute(data.disputeId);
    if (dispute.resolution !== null) throw settledAlready(dispute);
    if (data.keep === 'challenger') await refuseChallenger(tx, tenantId, data.disputeId, dispute.challenger);
    const { knowledgeId, incumbentVersion } = dispute;
    const contradicted = [{ knowledgeId, version: incumbentVersion }];
    const [incumbent] = await findFactVersions(tx, tenantId, contradicted, head.revision);
    const lookup = { tenantId, knowledgeIds: [knowledgeId], factKeys: [], signatures: [] };
    const draft = new WriteDraft(await findFactStates(tx, [lookup]));
    const write = carryOut(draft, tenantId, dispute, incumbent, data.keep, requestId, head.now.getTime());
    const written = await writeBatch(tx, head, draft, true);
    const settled = { resolution, by: 'person', reason: data.reason ?? null };
    await saveResolution(tx, data.disputeId, settled, written.at, written.last);
    const derived = write === undefined ? [] : toDerivations(tenantId, dispute, write, written.last);
    await insertDerivations(tx, derived);
    await cascade(tx, draft, derived, written);
    const told = data.keep === 'neither' ? write?.closed : [write?.holding.at(-1) ?? incumbentVersion];
    const outbox = await tell(tx, call, dispute, told ?? [incumbentVersion], written);
    return {
      reply: { knowledgeId, resolution, revision: written.last, versions: [...(write?.holding ?? [])] },
      outbox,
    };
  });
}

/**
 * Audit and events of the versions concerned. What the person wrote is in the audit alone: events carry no free text.
 */
async function tell(
  tx: Tx,
  { tenantId, requestId, data }: Call<Request>,
  { knowledgeId, candidateId }: StoredDispute,
  versions: readonly number[],
  written: WrittenBatch,
) {
  const resolution = RESOLUTION[data.keep];
  const change = CHANGE[resolution];
  const reason = `dispute ${data.disputeId}: ${resolution}`;
  const said = data.reason === undefined ? reason : `${reason}, ${data.reason}`;
  const decided = { tenantId, knowledgeId, candidateId, decision: change, sourceMessageId: requestId, reason: said };
  await insertAudit(
    tx,
    versions.map((version) => ({ ...decided, version })),
    written.at,
    written.last,
  );
  const cause = { tenantId, at: written.at, causationId: requestId };
  const changed = { knowledgeId, revision: written.last, contentHash: null, taskId: null, change, reason };
  return await insertKnowledgeOutbox(
    tx,
    versions.map((version) => toFactChanged(cause, { ...changed, version })),
  );
}

function unknownDispute(disputeId: number): AppError {
  return new AppError('NOT_FOUND', `no dispute ${disputeId}: \`slate fact disputes\` lists those that are open`);
}

function settledAlready({ disputeId, resolution }: StoredDispute): AppError {
  return new AppError(
    'FACT_CONFLICT',
    `dispute ${disputeId} was settled already, for ${resolution}: nothing was changed`,
  );
}
