import { refuseLossyStreams } from '@cleanslate/bus';
import { AgeWatch, checkBus, type ReadyChecks, untilBrokerAnswers } from '@cleanslate/runtime/service';
import { type Database, readEpoch, type Tx, withTransaction } from '@cleanslate/store/ledger';
import type { HandlerContext } from './handlers/context.ts';
import { type EdgesContext, startEdges } from './handlers/edges.ts';
import { Overtaker } from './handlers/overtake.ts';
import { LEDGER_SCOPE } from './ledger/apply-batch.ts';
import { checkLedgerAge } from './ledger/check-age.ts';
import { WorkflowRegistry } from './ledger/workflow-registry.ts';
import { type Background, createBackground, startLoops } from './loops/background.ts';
import type { Loop } from './loops/loop.ts';
import { runSchedules } from './loops/schedules.ts';
import { createUpkeep } from './loops/upkeep.ts';
import type { SchedulerOptions } from './options.ts';
import { createRelayedLedger, type RelayedLedger } from './relayed-ledger.ts';

export type Scheduler = {
  readonly checks: ReadyChecks;
  /** Why it can't go on. */
  readonly ended: Promise<Error>;
  stop(): Promise<void>;
};

/** A workflow that another scheduler registered is known here by then. */
const WORKFLOWS_MS = 1_000;
/** A flood is looked behind this often. */
const OVERTAKE_MS = 100;
/** Schedules start within this of their time. */
const SCHEDULES_MS = 500;

/** Starts everything a scheduler replica does. Any number of replicas may run on one ledger. */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { bus, database } = options;
  const age = await compareWithStreams(options);
  const epoch = await look(database, readEpoch);
  const background = createBackground(options);
  const relayed = createRelayedLedger(options, { background, age, epoch });
  const { ledger, publisher, doorbells, admission, events, settlements, letters } = relayed;
  const upkeep = createUpkeep(options, background, relayed);
  const context = createEdgesContext(options, relayed);

  // Started in this order, stopped in the reverse one: first what brings new work, then what was taken is applied, and
  // last what sends on what that committed.
  const running = new AsyncDisposableStack();
  running.defer(() => publisher.close());
  doorbells.start();
  running.defer(() => doorbells.stop());
  running.defer(
    bus.onStatus((status) => {
      if (status.type === 'reconnected') doorbells.wake();
    }),
  );
  running.defer(startLoops([admission, events, settlements, letters, ...upkeep]));
  running.defer(() => ledger.drained());
  await context.learn();
  const edges = startEdges(context);
  running.defer(() => edges.stop());
  running.defer(startLoops(createFeeders(background, context)));

  return {
    checks: {
      bus: () => checkBus(bus),
      publishing: () => publisher.problem(),
      database: async () => {
        await look(database, readEpoch);
        return undefined;
      },
      ...edges.checks,
    },
    ended: age.behind,
    stop: () => running.disposeAsync(),
  };
}

/**
 * Returns once the broker has said that its streams lose nothing and tell of no more than the ledger knows. Throws
 * where one of the two is not so.
 */
async function compareWithStreams({ bus, database, logger }: SchedulerOptions): Promise<AgeWatch> {
  const onWait = (error: unknown) => logger.warn({ err: error }, 'the streams cannot be read yet');
  await untilBrokerAnswers(() => refuseLossyStreams(bus), onWait);
  const age = new AgeWatch(() => checkLedgerAge(bus, database));
  await untilBrokerAnswers(() => age.check(), onWait);
  return age;
}

function createEdgesContext(options: SchedulerOptions, relayed: RelayedLedger): EdgesContext {
  const { bus, database, logger, tracer, rolloutMs, modelLeaseMs } = options;
  const { ledger, publisher, admission, letters } = relayed;
  const handlers: HandlerContext = {
    bus,
    tracer,
    publisher,
    ledger,
    rolloutMs,
    onProblem: (problem) => logger.warn({ problem }, 'message not applied; it will come again'),
  };
  const registry = new WorkflowRegistry(options.workflows, (workflow, error) =>
    logger.warn({ err: error, workflow }, 'a registered workflow cannot be read here'),
  );
  return {
    ...handlers,
    registry,
    overtaker: new Overtaker({ ...handlers, registry }),
    learn: () => look(database, (tx) => registry.refresh(tx)),
    onSlots: () => admission.wake(),
    onReplay: () => letters.wake(),
    modelLeaseMs,
  };
}

/** What brings new tasks by itself, and the workflows they may name. */
function createFeeders({ loop }: Background, { learn, overtaker, ledger, registry }: EdgesContext): readonly Loop[] {
  return [
    loop('workflows', WORKFLOWS_MS, async () => {
      await learn();
      return false;
    }),
    loop('intake', OVERTAKE_MS, () => overtaker.look()),
    loop('schedules', SCHEDULES_MS, () => runSchedules(ledger, registry)),
  ];
}

function look<T>(database: Database, read: (tx: Tx) => Promise<T>): Promise<T> {
  return withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, read);
}
