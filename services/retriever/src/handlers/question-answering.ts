import { Pin } from '@cleanslate/contracts';
import { MAX_SUB_GOALS, SEARCH_CHANNELS, type SourceCatalog } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { type Database, withTransaction } from '@cleanslate/store';
import {
  type FoundSubGoal,
  MAX_SOURCES,
  Retrieved,
  resolveQuestion,
  SourceName,
  SubGoalRecord,
  scopeOfQuery,
} from '@cleanslate/workflows';
import { z } from 'zod';
import { askSources } from './ask-sources.ts';
import { findFor, type Search } from './find-for-question.ts';
import { awaitPin, type EmbedQuery } from './search.ts';

const MAX_FOUND = 200;

const Found = z.array(z.strictObject({ subGoal: SubGoalRecord, output: Retrieved })).max(MAX_SUB_GOALS);

/**
 * Facts that a sub-goal's words find at the pin; with a period every version in force during it. Evidence that the
 * validator misses is searched by all channels.
 */
export function retrieveForQuestionExecutor(database: Database, embed: EmbedQuery, sources: SourceCatalog): Executor {
  return defineExecutor({
    role: 'retriever',
    name: 'question-answering/retrieve',
    input: z.strictObject({
      subGoal: SubGoalRecord.nullable(),
      found: Found,
      planned: z.array(SubGoalRecord).max(MAX_SUB_GOALS),
      /** What the validator asked for. */
      query: z.string().min(1).max(500).nullable(),
      sources: z.array(SourceName).max(MAX_SOURCES).nullable(),
      pin: Pin,
    }),
    output: Retrieved,
    run: async ({ input, tenantId, signal, logger }) => {
      const search = toSearch(input, Date.parse(input.pin.validAt));
      if (search === null) return { question: null, facts: [], channels: [], unreachable: [] };
      const vector = search.channels.includes('vectors') ? await embed(search.question, signal) : null;
      const pending = await awaitPin(database, tenantId, vector, input.pin.revision, signal);
      const scope = { role: 'cleanslate_retriever', tenantId, readOnly: true } as const;
      const facts = await withTransaction(database, scope, (tx) => findFor(tx, tenantId, search, vector, input.pin));
      const asked = { names: input.sources ?? [], question: search.question, clearance: search.accessLevel };
      const { passages, unreachable } = await askSources(sources, tenantId, { ...asked, pin: input.pin, signal });
      logger.info({ facts: facts.length, passages: passages.length, unreachable, pending }, 'searched at the pin');
      return {
        question: search.question,
        facts: [...facts, ...passages].slice(0, MAX_FOUND),
        // If facts of the pin have no vectors yet, the search was incomplete: the output says so.
        channels: search.channels.filter((channel) => channel !== 'vectors' || (vector !== null && pending === 0)),
        unreachable: [...unreachable],
      };
    },
  });
}

type Input = {
  readonly subGoal: SubGoalRecord | null;
  readonly found: readonly FoundSubGoal[];
  readonly planned: readonly SubGoalRecord[];
  readonly query: string | null;
};

/** What to search for; null if it needs a result that nobody found. */
function toSearch({ subGoal, found, planned, query }: Input, now: number): Search | null {
  if (subGoal !== null) {
    const question = resolveQuestion(subGoal.question, found, now);
    return question === null ? null : { ...subGoal, question };
  }
  if (query === null) return null;
  return { question: query, channels: SEARCH_CHANNELS, ...scopeOfQuery(query, planned, found, now) };
}
