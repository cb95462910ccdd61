import { createEmbeddings, followSpace } from '@cleanslate/llm';
import { parseConfig, toSafeError } from '@cleanslate/runtime';
import { openDatabase } from '@cleanslate/store';
import { retrieverConfig } from '../config.ts';
import { embedQuery } from './embed-query.ts';
import { knowledgePort } from './knowledge-port.ts';
import { openRetrieverSources } from './open-retriever-sources.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What `--check-sources` needs; the rest of a retriever's configuration is ignored. */
const checkConfig = retrieverConfig
  .pick({
    SOURCES_FILE: true,
    EMBEDDING_MODEL: true,
    EMBEDDING_DIMENSION: true,
    EMBEDDING_URL: true,
    EMBEDDING_API_KEY: true,
  })
  .extend({ DATABASE_URL: retrieverConfig.shape.DATABASE_URL.optional() });

/**
 * `retriever --check-sources`: asks each source, from where this process runs, whether it is there, and prints a line
 * for each. Exit code 0: all are; 1: one is not; 2: the file or a variable is wrong.
 */
export async function checkSources(env: Env, print: (line: string) => void): Promise<number> {
  await using stack = new AsyncDisposableStack();
  try {
    const config = parseConfig(checkConfig, env);
    const embeddings = await createEmbeddings(config);
    const database =
      config.DATABASE_URL === undefined
        ? undefined
        : stack.use(openDatabase({ url: config.DATABASE_URL, applicationName: 'cleanslate-check-sources' }));
    const follow = followSpace(embeddings, config, () => undefined);
    const knowledge =
      database === undefined ? undefined : knowledgePort(database, embedQuery(database, follow), follow);
    const sources = stack.use(await openRetrieverSources({ file: config.SOURCES_FILE, env, embeddings, knowledge }));
    const states = await sources.check();
    for (const { name, kind, ok, says } of states) print(`${ok ? 'ok    ' : 'failed'}  ${name} (${kind}): ${says}`);
    if (database === undefined) print('        knowledge: not asked, DATABASE_URL is not set');
    return states.every(({ ok }) => ok) ? 0 : 1;
  } catch (error) {
    print(toSafeError(error).message);
    return 2;
  }
}
