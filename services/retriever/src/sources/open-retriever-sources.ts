import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError } from '@cleanslate/contracts';
import type { EmbeddingProvider } from '@cleanslate/llm';
import type { Logger, Metrics } from '@cleanslate/runtime';
import { type GuardHooks, type KnowledgePort, type OpenSources, openSources, readSources } from '@cleanslate/sources';

export type RetrieverSourcesOptions = {
  readonly file: string | undefined;
  /** The environment with the variables that the file names. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly embeddings: EmbeddingProvider;
  readonly knowledge?: KnowledgePort | undefined;
  readonly logger?: Pick<Logger, 'warn' | 'info'>;
  readonly hooks?: GuardHooks;
};

/** The knowledge base and what `SOURCES_FILE` declares. Throws `CONFIGURATION` with every fault of the file. */
export async function openRetrieverSources(options: RetrieverSourcesOptions): Promise<OpenSources> {
  const { env, embeddings, knowledge, logger, hooks } = options;
  const file = options.file === undefined ? undefined : resolve(options.file);
  return openSources({
    settings: file === undefined ? [] : readSources(await readSourcesFile(file), file),
    file: file ?? '',
    env,
    knowledge,
    embedder: embeddings,
    ...(hooks === undefined ? {} : { hooks }),
    onUnreadable: (source, path, why) => logger?.warn({ source, path, why }, 'a file of a source cannot be read'),
  });
}

async function readSourcesFile(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unreadable';
    throw new AppError(
      'CONFIGURATION',
      `SOURCES_FILE ${file} cannot be read (${code}): check its path and where it is mounted`,
      { cause: error },
    );
  }
}

/** Counts questions by source and outcome, and shows which sources are left alone. */
export function countQuestions(metrics: Metrics): { readonly hooks: GuardHooks; watch(sources: OpenSources): void } {
  const asked = metrics.counter('slate_source_questions_total', 'Questions to a source by how they went', [
    'source',
    'outcome',
  ]);
  const open = metrics.gauge('slate_source_open', '1 while a source is left alone after failures', ['source']);
  return {
    hooks: { onAnswer: ({ source, outcome }) => asked.inc({ source, outcome }) },
    watch: ({ all }) =>
      metrics.onScrape(() => {
        for (const { metadata, isOpen } of all) open.set({ source: metadata.name }, isOpen ? 1 : 0);
      }),
  };
}
