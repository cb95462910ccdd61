import { HOUR_MS } from '@cleanslate/contracts';
import { createEmbeddings, embeddingsOf } from '@cleanslate/llm';
import { connectServiceBus, openServiceDatabase, runService } from '@cleanslate/runtime';
import { AgeWatch, untilBrokerAnswers } from '@cleanslate/runtime/service';
import { checkKnowledgeAge } from './check-age.ts';
import { maintainerConfig } from './config.ts';
import { Embedder } from './embedder.ts';
import { startMaintainer } from './maintainer.ts';

const name = 'knowledge-maintainer';

await runService({
  name,
  config: maintainerConfig,
  env: process.env,
  start: async (context) => {
    const { config, logger, metrics, tracer } = context;
    const database = await openServiceDatabase(context, 'cleanslate_maintainer', { applicationName: name });
    const embedder = new Embedder({
      database,
      embeddings: await createEmbeddings(config),
      // The same server and key; if the model belongs to another one, that is reported.
      follow: (space) => embeddingsOf(config, space),
      onError: (error) => logger.warn({ err: error }, 'embeddings'),
    });
    await embedder.open();
    const bus = await connectServiceBus(context, { kind: name });
    const age = new AgeWatch(() => checkKnowledgeAge(bus, database));
    await untilBrokerAnswers(
      () => age.check(),
      (error) => logger.warn({ err: error }, 'the stream EVENTS cannot be read yet'),
    );
    database.pool.on('connect', () => age.doubt());
    const maintainer = startMaintainer({
      bus,
      database,
      age,
      embedder,
      logger,
      metrics,
      tracer,
      slots: config.SLOTS,
      rolloutMs: config.ROLLOUT_MS,
      launderEveryMs: config.LAUNDER_EVERY_HOURS * HOUR_MS,
      settings: {
        trustedConfidence: config.TRUSTED_CONFIDENCE,
        derivedConfidence: config.DERIVED_CONFIDENCE,
        importance: config.MIN_IMPORTANCE,
      },
    });
    return {
      checks: maintainer.checks,
      ended: Promise.race([bus.closed, age.behind]),
      stop: async () => {
        await maintainer.stop();
        await bus.close();
        await database.close();
      },
    };
  },
});
