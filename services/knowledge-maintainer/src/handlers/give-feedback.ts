import { AppError, type RequestOf, TaskFeedback, type ValueOf } from '@cleanslate/contracts';
import { WriteDraft, weightAfter } from '@cleanslate/domain';
import {
  adjustWeights,
  type Database,
  findAnswerVersions,
  findVotes,
  insertAudit,
  isRepeated,
  type JudgedVersion,
  openReviews,
  saveFeedback,
  saveNote,
  type Tx,
} from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { replySchema } from './reply-schema.ts';
import { type WrittenBatch, writeBatch } from './write-batch.ts';

type Request = RequestOf<typeof TaskFeedback>;
type Reply = ValueOf<typeof TaskFeedback>;

/**
 * A person's feedback on a task's answer moves the weight of the facts it rests on, as of a new revision, and opens
 * reviews of what was called wrong. Throws `NOT_FOUND`.
 */
export async function giveFeedback(database: Database, call: Call<Request>): Promise<Answered<Reply>> {
  const { tenantId, requestId, data } = call;
  const { taskId, verdict, note = null, by: person } = data;
  return await answerOnce(database, call, replySchema(TaskFeedback), async (tx, head) => {
    const facts = await findAnswerVersions(tx, tenantId, taskId);
    if (facts.length === 0) throw noAnswer(taskId);
    const said = { tenantId, taskId, person, verdict, note, facts };
    const believed = facts.filter((fact) => fact.believed);
    if (await isRepeated(tx, said)) {
      await saveNote(tx, said);
      const reviews = verdict === 'wrong' ? await openReviews(tx, tenantId, believed, head.now) : [];
      return { reply: toReply(taskId, head.revision, facts, facts, reviews, false), outbox: [] };
    }
    const written = await writeBatch(tx, head, new WriteDraft([]), true);
    await saveFeedback(tx, said, written.at, written.last);
    const judged = await weigh(tx, tenantId, believed);
    const reason = `${verdict}: the answer of task ${taskId}`;
    await adjustWeights(tx, tenantId, judged, { reason, messageId: requestId, revision: written.last });
    const reviews = verdict === 'wrong' ? await openReviews(tx, tenantId, believed, written.at) : [];
    await audit(tx, call, facts, written);
    return { reply: toReply(taskId, written.last, facts, judged, reviews, true), outbox: [] };
  });
}

/** The same versions with the weight that all feedback so far gives them. */
async function weigh(tx: Tx, tenantId: string, versions: readonly JudgedVersion[]): Promise<JudgedVersion[]> {
  const weighed: JudgedVersion[] = [];
  for (const version of versions)
    weighed.push({ ...version, weight: weightAfter(version.base, await findVotes(tx, tenantId, version)) });
  return weighed;
}

async function audit(
  tx: Tx,
  { tenantId, requestId, data }: Call<Request>,
  facts: readonly JudgedVersion[],
  written: WrittenBatch,
) {
  const { taskId, verdict, by } = data;
  const said = { tenantId, taskId, decision: 'feedback', reason: `${by}: ${verdict}`, sourceMessageId: requestId };
  await insertAudit(
    tx,
    facts.map(({ knowledgeId, version }) => ({ ...said, knowledgeId, version })),
    written.at,
    written.last,
  );
}

function toReply(
  taskId: string,
  revision: number,
  before: readonly JudgedVersion[],
  after: readonly JudgedVersion[],
  reviews: readonly number[],
  counted: boolean,
): Reply {
  const now = new Map(after.map((each) => [refOf(each), each.weight]));
  const facts = before.map((each) => ({
    fact: refOf(each),
    weightBefore: each.weight,
    weight: now.get(refOf(each)) ?? each.weight,
  }));
  return { taskId, revision, counted, facts, reviews: [...reviews] };
}

function refOf({ knowledgeId, version }: JudgedVersion): string {
  return `${knowledgeId}@${version}`;
}

function noAnswer(taskId: string): AppError {
  return new AppError(
    'NOT_FOUND',
    `no answer of task ${taskId} is on record that rests on facts: only completed tasks whose result names fact versions have one (\`slate task explain ${taskId}\`)`,
  );
}
