import { createEmbeddings, followSpace } from '@cleanslate/llm';
import { runReadingWorkerService } from '@cleanslate/runtime';
import { retrieverConfig } from './config.ts';
import { executors } from './handlers/index.ts';
import { checkSources } from './sources/check-sources.ts';
import { embedQuery } from './sources/embed-query.ts';
import { knowledgePort } from './sources/knowledge-port.ts';
import { countQuestions, openRetrieverSources } from './sources/open-retriever-sources.ts';

const { env } = process;

if (process.argv.includes('--check-sources')) {
  process.exitCode = await checkSources(env, (line) => console.log(line));
} else {
  await runReadingWorkerService({
    role: 'retriever',
    env,
    config: retrieverConfig,
    executors: async (database, { config, logger, metrics, stack }) => {
      const embeddings = await createEmbeddings(config);
      const follow = followSpace(embeddings, config, ({ space }) =>
        logger.warn(
          { space },
          'the knowledge base was moved to a space that these settings cannot embed in: restart with its settings',
        ),
      );
      const embed = embedQuery(database, follow, logger);
      const { hooks, watch } = countQuestions(metrics);
      const knowledge = knowledgePort(database, embed, follow);
      const sources = await openRetrieverSources({
        file: config.SOURCES_FILE,
        env,
        embeddings,
        knowledge,
        logger,
        hooks,
      });
      stack.use(sources);
      watch(sources);
      return executors(database, embed, sources);
    },
  });
}
