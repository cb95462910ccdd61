import type { KnowledgeSettle } from '@cleanslate/contracts';
import { splitFactRef } from '@cleanslate/domain';
import { findAnswered, insertAnswers, insertReads, type NewAnswer, type Tx, updateMarks } from '@cleanslate/store';
import { taskKey } from './route-candidates.ts';
import type { WrittenBatch } from './write-batch.ts';

/** What a task used, as its settlement says; schedulers of an older version leave out both. */
export type SaidUse = { readonly tenantId: string; readonly taskId: string } & Partial<
  Pick<KnowledgeSettle, 'reads' | 'answer'>
>;

/** The answers of this batch that are not in the graph yet, each task's once. Needs the knowledge lock. */
export async function findNewAnswers(tx: Tx, said: readonly SaidUse[]): Promise<NewAnswer[]> {
  const given = new Map(
    said.flatMap(({ tenantId, taskId, answer }) =>
      answer ? [[taskKey({ tenantId, taskId }), { tenantId, taskId, ...answer }] as const] : [],
    ),
  );
  const known = await findAnswered(tx, [...given.values()]);
  return [...given]
    .filter(([key]) => !known.has(key))
    .map(([, { facts, ...answer }]) => ({ ...answer, facts: facts.map(splitFactRef) }));
}

/**
 * Records which fact versions tasks read, and adds answers to the graph: one whose grounds fell while its task was
 * running is marked as it is written. A repeated settlement changes nothing.
 */
export async function recordUsage(
  tx: Tx,
  said: readonly SaidUse[],
  answers: readonly NewAnswer[],
  written: WrittenBatch,
): Promise<void> {
  const reads = said.flatMap(({ tenantId, taskId, reads: steps = [] }) =>
    steps.flatMap(({ facts, ...step }) =>
      facts.map((ref, index) => ({ tenantId, taskId, ...step, ...splitFactRef(ref), rank: index + 1 })),
    ),
  );
  await insertReads(tx, reads, written.last);
  if (answers.length === 0) return;
  await insertAnswers(tx, answers, written.last);
  const grounds = answers.flatMap(({ tenantId, facts }) => facts.map((fact) => ({ tenantId, ...fact })));
  await updateMarks(tx, [], grounds, written.at, written.last);
}
