import type { AddressInfo } from 'node:net';
import { Publisher } from '@cleanslate/bus';
import { createEmbeddings, followSpace } from '@cleanslate/llm';
import { connectServiceBus, openServiceDatabase, runService } from '@cleanslate/runtime';
import { gatewayConfig } from './config.ts';
import { guardSpace, readSpaces } from './guard-space.ts';
import { openApiKeys } from './http/api-keys.ts';
import { closeHttp, createHttpServer } from './http/server.ts';
import { openSessions } from './http/session.ts';
import { openLedger } from './ledger.ts';
import { gatewayMetrics } from './metrics.ts';
import { serveQueries } from './queries.ts';
import { readyChecks } from './ready-checks.ts';

await runService({
  name: 'gateway',
  config: gatewayConfig,
  env: process.env,
  start: async (context) => {
    const { config, logger, metrics } = context;
    const database = await openServiceDatabase(context, 'cleanslate_gateway', {
      applicationName: 'cleanslate-gateway',
      poolSize: config.DATABASE_POOL,
    });
    const embeddings = await createEmbeddings(config);
    await guardSpace(database, embeddings.space.id);
    const bus = await connectServiceBus(context, { kind: 'gateway' });
    const publisher = new Publisher(bus);
    const counters = gatewayMetrics(metrics);
    const follow = followSpace(embeddings, config, ({ space }) =>
      logger.warn(
        { space },
        'the knowledge base was moved to a space that these settings cannot embed in: restart with its settings',
      ),
    );
    const findEmbeddings = async () => await follow(await readSpaces(database));
    const ledger = openLedger(database, findEmbeddings, counters.searched);
    const checks = readyChecks(bus, database);
    const draining = new AbortController();
    const queries = serveQueries(bus, ledger, { onError: counters.queryFailed });
    const http = createHttpServer({
      bus,
      publisher,
      ledger,
      checks,
      keys: openApiKeys(database),
      sessions: openSessions(config.SESSION_SECRET),
      rate: { perSecond: config.RATE_PER_SECOND, burst: config.RATE_BURST },
      origins: new Set(config.CORS_ORIGINS?.split(/, */) ?? []),
      trustProxy: config.TRUST_PROXY,
      submitTimeoutMs: config.SUBMIT_TIMEOUT_MS,
      maxStreams: config.MAX_STREAMS,
      maxStreamsPerTenant: config.MAX_STREAMS_PER_TENANT ?? Math.ceil(config.MAX_STREAMS / 4),
      drain: draining.signal,
      onFailure: (error, { method, url, id }) =>
        logger.error({ err: error, method, url, requestId: id }, 'request failed'),
      onAnswer: counters.answered,
    });
    await http.listen({ host: config.HTTP_HOST, port: config.HTTP_PORT });
    logger.info({ httpPort: (http.server.address() as AddressInfo).port }, 'HTTP API listens');
    return {
      checks,
      ended: bus.closed,
      stop: async () => {
        // Open streams end here and resume at another replica with Last-Event-ID.
        draining.abort();
        await Promise.all([queries.stop(), closeHttp(http, config.GRACE_MS)]);
        publisher.close();
        await bus.close();
        await database.close();
      },
    };
  },
});
