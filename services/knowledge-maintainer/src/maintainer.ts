import { type Bus, deadLetter, Publisher, PullLoop } from '@cleanslate/bus';
import type { ScreenSettings } from '@cleanslate/domain';
import { checkBus, type Logger, type Metrics, type ReadyChecks, type Tracer } from '@cleanslate/runtime';
import type { AgeWatch } from '@cleanslate/runtime/service';
import { type Database, getLastRevision, type KnowledgeOutboxRow, withTransaction } from '@cleanslate/store';
import type { Embedder } from './embedder.ts';
import { ErasureConfirmer } from './erasure-confirmer.ts';
import { startGauges } from './gauges.ts';
import { SOURCE } from './handlers/events.ts';
import { settleBatch } from './handlers/settle-batch.ts';
import { Intake } from './intake.ts';
import { LaunderingClock } from './laundering/laundering-clock.ts';
import { launderingMetrics } from './laundering/laundering-metrics.ts';
import { OutboxRelay } from './outbox-relay.ts';
import { PeriodSweeper } from './period-sweeper.ts';
import { serveRequests } from './serve-requests.ts';
import { traceBatch } from './trace-batch.ts';

export type MaintainerOptions = {
  readonly bus: Bus;
  readonly database: Database;
  readonly age: AgeWatch;
  readonly settings: ScreenSettings;
  /** Opened already. */
  readonly embedder: Embedder;
  /** Messages in hand per stream. */
  readonly slots: number;
  /** How long a message of a newer version waits for a maintainer that reads it. */
  readonly rolloutMs: number;
  /** Between two rounds of laundering. */
  readonly launderEveryMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
};

export type Maintainer = { readonly checks: ReadyChecks; stop(): Promise<void> };

const OUTAGE_PAUSE_MS = 2_000;
/** A connection that is new is looked behind within this. */
const AGE_MS = 1_000;
const PUBLISH_GRACE_MS = 5_000;
const CONSUMERS = [
  { stream: 'BLACKBOARD', durable: 'maintainer-blackboard' },
  { stream: 'COMMANDS', durable: 'maintainer-commands' },
] as const;

type Parts = MaintainerOptions & {
  readonly publisher: Publisher;
  /** Committed: its events go out, and new versions need their vectors. */
  readonly onWritten: (outbox: readonly KnowledgeOutboxRow[], outcomes?: readonly string[]) => void;
  readonly onError: (error: unknown) => void;
};

/** Wires the maintainer: two durables into intakes, imports by request, events through the outbox. */
export function startMaintainer(options: MaintainerOptions): Maintainer {
  const { bus, database, age, embedder, logger, metrics } = options;
  const onError = (error: unknown) => logger.warn({ err: error }, 'knowledge');
  const decisions = metrics.counter('slate_knowledge_decisions_total', 'Decisions about knowledge', ['outcome']);
  const publisher = new Publisher(bus);
  const relay = new OutboxRelay({ database, publisher, onError });
  const onWritten: Parts['onWritten'] = (outbox, outcomes = []) => {
    relay.send(outbox);
    for (const outcome of outcomes) decisions.inc({ outcome });
    embedder.poke();
  };
  const parts: Parts = { ...options, publisher, onWritten, onError };
  let resume: NodeJS.Timeout | undefined;
  /** The circuit breaker: takes nothing that could not be stored. */
  const pauseAll = () => {
    for (const { loop } of intakes) loop.pause();
    clearTimeout(resume);
    resume = setTimeout(() => {
      for (const { loop } of intakes) loop.resume();
    }, OUTAGE_PAUSE_MS);
  };
  const intakes = CONSUMERS.map((consumer) => openIntake(parts, consumer, pauseAll));
  const laundering = launderingMetrics(metrics);
  const requests = serveRequests({ bus, database, logger, laundering, onWritten });
  const clock = new LaunderingClock({
    database,
    logger,
    onWritten,
    onError,
    metrics: laundering,
    everyMs: options.launderEveryMs,
  });
  const sweeper = new PeriodSweeper({ database, onWritten, onError });
  const confirmer = new ErasureConfirmer({ database, onError });
  const stopGauges = startGauges(database, metrics, onError);
  const ageing = setInterval(() => void age.check().catch(onError), AGE_MS);
  relay.start();
  sweeper.start();
  clock.start();
  confirmer.start();
  for (const { loop } of intakes) loop.start();
  return {
    checks: {
      bus: () => checkBus(bus),
      publishing: () => publisher.problem(),
      database: () => findDatabaseProblem(database),
      ...Object.fromEntries(intakes.map(({ durable, loop }) => [durable, () => findLoopProblem(loop)])),
    },
    stop: async () => {
      clearTimeout(resume);
      clearInterval(ageing);
      stopGauges();
      await Promise.all([
        requests.stop(),
        sweeper.stop(),
        clock.stop(),
        confirmer.stop(),
        ...intakes.map(({ loop }) => loop.drain()),
      ]);
      await Promise.all(intakes.map(({ intake }) => intake.idle()));
      await embedder.stop();
      await relay.stop(PUBLISH_GRACE_MS);
      publisher.close();
    },
  };
}

function openIntake(parts: Parts, consumer: (typeof CONSUMERS)[number], onOutage: () => void) {
  const { bus, database, settings, slots, rolloutMs, tracer, logger, publisher, onWritten, onError } = parts;
  const intake = new Intake({
    apply: async (batch) => {
      const traced = traceBatch(tracer, batch);
      const { outbox, outcomes } = await settleBatch(database, traced.batch, settings);
      traced.end();
      onWritten(outbox, outcomes);
    },
    deadLetter: (message, error) => deadLetter({ bus, publisher, consumer, source: SOURCE }, message, error),
    onError,
    onOutage,
    rolloutMs,
  });
  const loop = new PullLoop(bus, {
    ...consumer,
    slots,
    onMessage: (message) => intake.receive(message),
    onProblem: (problem) => logger.warn({ durable: consumer.durable, problem }, 'pull loop'),
  });
  return { ...consumer, intake, loop };
}

function findLoopProblem(loop: PullLoop): string | undefined {
  const { ready, problem, state } = loop.health();
  return ready ? undefined : (problem ?? state);
}

async function findDatabaseProblem(database: Database): Promise<string | undefined> {
  try {
    await withTransaction(database, { role: 'cleanslate_maintainer', readOnly: true }, getLastRevision);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
