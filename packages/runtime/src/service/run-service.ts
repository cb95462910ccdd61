import { flushCompileCache } from 'node:module';
import type { z } from 'zod';
import { type baseConfig, parseConfig } from '../config/config.ts';
import { type ReadyChecks, startHealthServer } from '../health/health-server.ts';
import { createMetrics, type Metrics } from '../health/metrics.ts';
import { findSecrets, hideSecrets } from '../log/known-secrets.ts';
import { createLogger, type Logger } from '../log/logger.ts';
import { toSafeError } from '../log/safe-error.ts';
import { openTracer } from '../tracing/open-tracer.ts';
import type { Tracer } from '../tracing/tracer.ts';

export type ServiceContext<C> = {
  readonly config: C;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  /** Tells readiness what the start is waiting for. */
  readonly onWait: (problem: string) => void;
};

export type RunningService = {
  readonly checks: ReadyChecks;
  /** Finishes or hands back what is running, then closes connections. Called once, on SIGTERM or SIGINT. */
  readonly stop: () => Promise<void>;
  /**
   * Called in the handler of a fault that nobody handled: resolves once there is nothing more to say before the process
   * ends. Undefined: it ends at once.
   */
  readonly onFault?: (fault: unknown) => Promise<void> | undefined;
  /** Settles when the service can't go on; with an error the process exits non-zero. */
  readonly ended?: Promise<Error | undefined>;
  /** What `/health/state-schema` shows. */
  readonly stateSchema?: unknown;
};

export type ServiceDefinition<S extends z.ZodObject> = {
  readonly name: string;
  readonly config: S;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly start: (context: ServiceContext<Readonly<z.infer<S>>>) => Promise<RunningService>;
};

type BaseConfig = z.infer<typeof baseConfig>;

/** A service that is still stopping this long after its grace period is ended. */
export const STOP_MARGIN_MS = 12_000;

/**
 * Runs a service until it is told to stop: configuration, logs, health server, signals. Exit code 0 after a drained
 * stop, 1 if it can't start or go on. An unhandled rejection is a bug with unknown effects: it is logged, then the
 * process exits with 1 and the ledger hands its work on; a worker says first whose fault it was, if it knows.
 */
export async function runService<S extends typeof baseConfig>(definition: ServiceDefinition<S>): Promise<void> {
  // Only where there is a compile cache (a checkout). Written at the end it would be lost with a killed process, and
  // each start would load the compiler again, for 20 MB.
  flushCompileCache();
  hideSecrets(findSecrets(definition.env));
  const config = readConfig(definition);
  const { LOG_LEVEL, HEALTH_HOST, HEALTH_PORT, GRACE_MS }: BaseConfig = config;
  const logger = createLogger({ service: definition.name, level: LOG_LEVEL });
  const exit = (code: number) => {
    logger.flush(() => process.exit(code));
    setTimeout(() => process.exit(code), 500).unref();
  };
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (error: unknown) => {
      logger.fatal({ err: error, event }, 'a fault nobody handled');
      const said = service?.onFault?.(error);
      if (said === undefined) exit(1);
      else
        void said.then(
          () => exit(1),
          () => exit(1),
        );
      setTimeout(() => exit(1), STOP_MARGIN_MS).unref();
    });
  }
  const metrics = createMetrics(definition.name);
  let service: RunningService | undefined;
  let stopping = false;
  let waitsFor = 'still starting';
  const starting = { startup: () => waitsFor };
  const tracer = openTracer(definition.name, config, metrics);
  const onWait = (problem: string) => {
    // Occurs at every try, logged once.
    if (problem !== waitsFor) logger.warn({ problem }, 'waiting to start');
    waitsFor = problem;
  };
  const health = await startHealthServer({
    host: HEALTH_HOST,
    port: HEALTH_PORT,
    metrics,
    logger,
    checks: () => (stopping ? { shutdown: () => 'shutting down' } : (service?.checks ?? starting)),
    stateSchema: () => service?.stateSchema,
  }).catch((error: unknown) => fail('health server not started', error));
  const stop = (reason: string) => {
    // A second signal changes nothing: the drain goes on.
    if (stopping) return;
    stopping = true;
    logger.info({ reason }, 'stopping');
    setTimeout(() => fail('not stopped in time', undefined), GRACE_MS + STOP_MARGIN_MS).unref();
    const stopped = Promise.resolve(service?.stop()).then(() => Promise.all([health?.close(), tracer.close()]));
    stopped.then(
      () => {
        logger.info({ event: 'stopped' }, 'shutdown complete');
        exit(0);
      },
      (error: unknown) => fail('not stopped in good order', error),
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  try {
    service = await definition.start({ config, logger, metrics, tracer, onWait });
    logger.info({ event: 'started' }, `${definition.name} started`);
  } catch (error) {
    fail('not started', error);
    return;
  }
  const ended = await service.ended;
  if (!stopping) fail('the service ended by itself', ended);

  function fail(text: string, error: unknown): undefined {
    logger.fatal({ err: error }, text);
    exit(1);
  }
}

/** Faults of the configuration are for a person at a terminal: plain text, then exit. */
function readConfig<S extends z.ZodObject>(definition: ServiceDefinition<S>): Readonly<z.infer<S>> {
  try {
    return parseConfig(definition.config, definition.env);
  } catch (error) {
    process.stderr.write(`${definition.name}: ${toSafeError(error).message}\n`);
    process.exit(1);
  }
}
