import { AppError, FactRetract, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import { type BelievedVersion, type FactBody, type ValidRange, WriteDraft } from '@cleanslate/domain';
import { type Database, findFactStates, insertAudit, insertKnowledgeOutbox } from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { cascade } from './cascade.ts';
import { toFactChanged } from './events.ts';
import { replySchema } from './reply-schema.ts';
import { writeBatch } from './write-batch.ts';

type Request = RequestOf<typeof FactRetract>;

/**
 * Stops believing a fact or a part of it. Throws `NOT_FOUND` if nothing of it is believed there, `INVALID_INPUT` for an
 * empty range.
 */
export async function retractFact(
  database: Database,
  call: Call<Request>,
): Promise<Answered<ValueOf<typeof FactRetract>>> {
  const { tenantId, requestId, data } = call;
  const { knowledgeId, reason } = data;
  const range = toRange(data);
  return await answerOnce(database, call, replySchema(FactRetract), async (tx, head) => {
    const lookup = { tenantId, knowledgeIds: [knowledgeId], factKeys: [], signatures: [] };
    const draft = new WriteDraft(await findFactStates(tx, [lookup]));
    const selected = ({ version }: BelievedVersion<FactBody>) => data.version === undefined || version === data.version;
    const write = draft.retract(tenantId, knowledgeId, range, selected);
    if (write.closed.length === 0) throw nothingThere(data);
    const written = await writeBatch(tx, head, draft, false);
    const said = { tenantId, knowledgeId, sourceMessageId: requestId, decision: 'retracted', reason };
    await insertAudit(
      tx,
      write.closed.map((version) => ({ ...said, version })),
      written.at,
      written.last,
    );
    await cascade(tx, draft, [], written);
    const cause = { tenantId, at: written.at, causationId: requestId };
    const events = write.closed.map((version) =>
      toFactChanged(cause, {
        change: 'retracted',
        knowledgeId,
        version,
        contentHash: null,
        taskId: null,
        revision: written.last,
        reason: null,
      }),
    );
    const outbox = await insertKnowledgeOutbox(tx, events);
    const refs = (versions: readonly number[]) => versions.map((version) => `${knowledgeId}@${version}`);
    const remaining = refs(write.asserted.map(({ version }) => version));
    return { reply: { knowledgeId, revision: written.last, closed: refs(write.closed), remaining }, outbox };
  });
}

function toRange({ from, until }: Request): ValidRange {
  const range = {
    from: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
    until: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until),
  };
  if (range.from < range.until) return range;
  throw new AppError('INVALID_INPUT', 'from must be before until: correct one of the two', {
    details: { field: 'from' },
  });
}

function nothingThere({ knowledgeId, version }: Request): AppError {
  const what = version === undefined ? knowledgeId : `${knowledgeId}@${version}`;
  return new AppError(
    'NOT_FOUND',
    `nothing of ${what} is believed there: \`slate fact history ${knowledgeId}\` shows its versions`,
  );
}
