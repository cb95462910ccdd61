import { AppError, FactUnarchive, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import { WriteDraft } from '@cleanslate/domain';
import { type Database, findArchived, findFactStates, insertAudit, insertKnowledgeOutbox } from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { cascade } from './cascade.ts';
import { toFactChanged } from './events.ts';
import { refuseArchived } from './keep-out.ts';
import { replySchema } from './reply-schema.ts';
import { writeBatch } from './write-batch.ts';

/**
 * Believes an archived fact again, as new versions of it. Throws `NOT_FOUND` if it isn't archived, `INVALID_INPUT` if
 * it says what was redacted.
 */
export async function unarchiveFact(
  database: Database,
  call: Call<RequestOf<typeof FactUnarchive>>,
): Promise<Answered<ValueOf<typeof FactUnarchive>>> {
  const { tenantId, requestId } = call;
  const { knowledgeId } = call.data;
  return await answerOnce(database, call, replySchema(FactUnarchive), async (tx, head) => {
    const archived = await findArchived(tx, tenantId, knowledgeId);
    if (archived.length === 0)
      throw new AppError('NOT_FOUND', `${knowledgeId} is not archived: \`slate fact history ${knowledgeId}\` shows it`);
    await refuseArchived(tx, tenantId, knowledgeId, archived);
    const lookup = { tenantId, knowledgeIds: [knowledgeId], factKeys: [], signatures: [] };
    const draft = new WriteDraft(await findFactStates(tx, [lookup]));
    const { asserted } = draft.write(tenantId, knowledgeId, archived, (a, b) => a.contentHash === b.contentHash);
    const written = await writeBatch(tx, head, draft, false);
    const versions = asserted.filter(({ remainderOf }) => remainderOf === null);
    const said = {
      tenantId,
      knowledgeId,
      sourceMessageId: requestId,
      decision: 'accepted',
      reason: 'taken out of the archive',
    };
    await insertAudit(
      tx,
      versions.map(({ version }) => ({ ...said, version })),
      written.at,
      written.last,
    );
    await cascade(tx, draft, [], written);
    const cause = { tenantId, at: written.at, causationId: requestId };
    const data = { change: 'accepted', knowledgeId, revision: written.last, taskId: null, reason: null } as const;
    const outbox = await insertKnowledgeOutbox(
      tx,
      versions.map(({ version, body }) => toFactChanged(cause, { ...data, version, contentHash: body.contentHash })),
    );
    return {
      reply: { knowledgeId, revision: written.last, versions: versions.map(({ version }) => version) },
      outbox,
    };
  });
}
