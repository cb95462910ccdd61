import type { SourceCatalog } from '@cleanslate/domain';
import { type Executor, noopExecutor } from '@cleanslate/runtime';
import type { Database } from '@cleanslate/store';
import { retrieveExecutor } from './contract-review.ts';
import { listSourcesExecutor, querySourceExecutor } from './query-source.ts';
import { retrieveForQuestionExecutor } from './question-answering.ts';
import type { EmbedQuery } from './search.ts';

/** Every executor this service runs. */
export function executors(database: Database, embed: EmbedQuery, sources: SourceCatalog): readonly Executor[] {
  return [
    retrieveExecutor(database),
    retrieveForQuestionExecutor(database, embed, sources),
    querySourceExecutor(sources),
    listSourcesExecutor(sources),
    noopExecutor('retriever'),
  ];
}
