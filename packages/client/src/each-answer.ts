import { FactImpact, type ValueOf } from '@cleanslate/contracts';
import { eachOf } from './pages.ts';
import { ask, type Wire } from './wire.ts';

/** An answer of a task, with the version that it names as a ground. */
export type FactAnswer = NonNullable<ValueOf<typeof FactImpact>['answers']>[number];

/**
 * Every answer that rests on a fact, or on one version of it, nearest first. A page ends in the task
 * behind which the next one begins.
 */
export function eachAnswer(
  wire: Wire,
  knowledgeId: string,
  version: number | undefined,
): AsyncGenerator<FactAnswer, void, undefined> {
  const about = { knowledgeId, ...(version === undefined ? {} : { version }) };
  const read = async (after: string | undefined) => {
    const page = await ask(wire, FactImpact, { ...about, ...(after === undefined ? {} : { answersAfter: after }) });
    const answers = page.answers ?? [];
    // Of the first page it may be facts or readers that there are more of: then the next one is empty.
    return { answers, next: page.more ? (answers.at(-1)?.taskId ?? null) : null };
  };
  return eachOf(read, (page) => page.answers);
}
