import { AppError, FactReview, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import { WriteDraft } from '@cleanslate/domain';
import {
  adjustWeights,
  type Database,
  findJudgedVersion,
  findReview,
  insertAudit,
  closeReview as saveClosing,
  setAside,
} from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { replySchema } from './reply-schema.ts';
import { writeBatch } from './write-batch.ts';

/**
 * A person checked a doubted fact and it stays, with the weight that feedback left it, or with its own restored. Throws
 * `NOT_FOUND`, `FACT_CONFLICT` if it was closed before.
 */
export async function closeReview(
  database: Database,
  call: Call<RequestOf<typeof FactReview>>,
): Promise<Answered<ValueOf<typeof FactReview>>> {
  const { tenantId, requestId, data } = call;
  const { reviewId, by, reason, restoreWeight = false } = data;
  return await answerOnce(database, call, replySchema(FactReview), async (tx, head) => {
    const review = await findReview(tx, tenantId, reviewId);
    if (review === undefined)
      throw new AppError('NOT_FOUND', `no review ${reviewId}: \`slate fact reviews\` lists those that are open`);
    if (review.closed)
      throw new AppError('FACT_CONFLICT', `review ${reviewId} was closed already: nothing was changed`);
    const { knowledgeId, version } = review;
    const judged = await findJudgedVersion(tx, tenantId, knowledgeId, version);
    if (judged === undefined) throw new AppError('INTERNAL', `review ${reviewId} is about no version`);
    const restored = restoreWeight && judged.believed;
    const written = await writeBatch(tx, head, new WriteDraft([]), restored);
    if (restored) {
      await setAside(tx, tenantId, knowledgeId, version);
      const why = { reason: `review ${reviewId}: restored`, messageId: requestId, revision: written.last };
      await adjustWeights(tx, tenantId, [{ ...judged, weight: judged.base }], why);
    }
    await saveClosing(tx, reviewId, { by, outcome: reason, at: written.at });
    const said = {
      tenantId,
      knowledgeId,
      version,
      decision: 'reviewed',
      reason: `${by}: ${reason}`,
      sourceMessageId: requestId,
    };
    await insertAudit(tx, [said], written.at, written.last);
    const weight = restored ? judged.base : judged.weight;
    return { reply: { reviewId, fact: `${knowledgeId}@${version}`, revision: written.last, weight }, outbox: [] };
  });
}
