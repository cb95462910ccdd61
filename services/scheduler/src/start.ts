import { type Bus, Publisher, refuseLossyStreams } from '@cleanslate/bus';
import type { CompiledWorkflow, MachineOptions } from '@cleanslate/domain/ledger';
import { MACHINE_DEFAULTS } from '@cleanslate/domain/ledger';
import {
  AgeWatch,
  checkBus,
  type Logger,
  type Metrics,
  type ReadyChecks,
  type Tracer,
  untilBrokerAnswers,
} from '@cleanslate/runtime/service';
import { type Database, PlanCache, readEpoch, StateCache, withTransaction } from '@cleanslate/store/ledger';
import { serveClaims } from './handlers/claims.ts';
import type { HandlerContext } from './handlers/context.ts';
import { serveControls } from './handlers/controls.ts';
import { startDeadLetters } from './handlers/dead-letters.ts';
import { serveHeartbeats } from './handlers/heartbeats.ts';
import { startIntake } from './handlers/intake.ts';
import { serveModelCalls } from './handlers/model-calls.ts';
import { Overtaker } from './handlers/overtake.ts';
import { startReports } from './handlers/reports.ts';
import { serveSchedules } from './handlers/schedules.ts';
import { serveSessions } from './handlers/sessions.ts';
import { startSettled } from './handlers/settled.ts';
import { serveTaskControls } from './handlers/task-controls.ts';
import { serveWorkflows } from './handlers/workflows.ts';
import { LEDGER_SCOPE } from './ledger/apply-batch.ts';
import { checkLedgerAge } from './ledger/check-age.ts';
import { Ledger } from './ledger/ledger.ts';
import { createLedgerTelemetry } from './ledger/ledger-telemetry.ts';
import { WorkflowRegistry } from './ledger/workflow-registry.ts';
import { DoorbellRelay } from './loops/doorbell-relay.ts';
import { createErasure } from './loops/erasure.ts';
import { EventRelay } from './loops/event-relay.ts';
import { createGauges } from './loops/gauges.ts';
import { relayLetters } from './loops/letter-relay.ts';
import { forgetLetters } from './loops/letter-retention.ts';
import { Loop } from './loops/loop.ts';
import { createReconciler } from './loops/reconciler.ts';
import { forget } from './loops/retention.ts';
import { runSchedules } from './loops/schedules.ts';
import { relaySettlements } from './loops/settlement-relay.ts';
import { sweep, sweepClaims } from './loops/sweeper.ts';
import { keepTime, toGapMs } from './loops/tick.ts';

export type SchedulerOptions = {
  readonly bus: Bus;
  readonly database: Database;
  readonly workflows: readonly CompiledWorkflow[];
  readonly machine: Partial<MachineOptions>;
  readonly sweepMs: number;
  /** How long finished tasks stay where their tenant sets nothing else. Days. */
  readonly retainDays: number;
  readonly reconcileMs: number;
  /** How long an ended dead letter is kept. */
  readonly letterRetainDays: number;
  /** How long a message of a newer version waits for a scheduler that reads it. */
  readonly rolloutMs: number;
  /** How long a worker that died holds its place among the requests to a model. */
  readonly modelLeaseMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
};

export type Scheduler = {
  readonly checks: ReadyChecks;
  /** Why it can't go on. */
  readonly ended: Promise<Error>;
  stop(): Promise<void>;
};

/** Longest an admission or event relay waits without being woken: another scheduler's commit wakes nobody here. */
const UNWOKEN_MS = 250;

/** A workflow that another scheduler registered is known here by then. */
const WORKFLOWS_MS = 1_000;
/** A flood is looked behind this often. */
const OVERTAKE_MS = 100;
/** Schedules start within this of their time. */
const SCHEDULES_MS = 500;

/** Starts everything a scheduler replica does. Any number of replicas may run on one ledger. */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { bus, database, logger, metrics, tracer } = options;
  const onWait = (error: unknown) => logger.warn({ err: error }, 'the streams cannot be read yet');
  await untilBrokerAnswers(() => refuseLossyStreams(bus), onWait);
  const age = new AgeWatch(() => checkLedgerAge(bus, database));
  await untilBrokerAnswers(() => age.check(), onWait);
  const epoch = await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, readEpoch);
  const publisher = new Publisher(bus, {
    window: 200,
    onRetry: (stream, reason) => logger.warn({ stream, reason }, 'publish again'),
  });
  const machine = { ...MACHINE_DEFAULTS, ...options.machine };
  const faults = metrics.counter(
    'slate_scheduler_faults_total',
    'Background work that failed and will be tried again',
    ['where'],
  );
  const repairs = metrics.counter('slate_repairs_total', 'Tasks and steps set going again by the reconciler', ['what']);
  const onError = (error: unknown, where: string) => {
    faults.inc({ where });
    logger.warn({ err: error, where }, 'background work failed; it will be tried again');
  };
  const loop = (name: string, everyMs: number, run: (signal: AbortSignal) => Promise<boolean>) =>
    new Loop({ name, everyMs, run, onError });

  const context = { database, plans: new PlanCache(), states: new StateCache(), epoch, options: machine, tracer };
  const relay = new DoorbellRelay({
    context,
    publisher,
    onError,
    isConnected: () => bus.connected,
    onUnsendable: async ({ state, stepId, attempt }, error) => {
      const { tenantId, taskId } = state.task;
      const input = { kind: 'unsendable', stepId, attempt, message: error.message } as const;
      await ledger.apply({ kind: 'input', tenantId, taskId, input });
    },
  });
  // Before the first query on it: a new connection may be to a server that lost what another had committed.
  database.pool.on('connect', () => {
    context.states.clear();
    age.doubt();
  });
  const telemetry = createLedgerTelemetry(metrics, tracer);
  const ledger: Ledger = new Ledger(
    context,
    { bus, relay, telemetry },
    {
      admission: () => admission.wake(),
      events: (committed) => {
        eventRelay.keep(committed);
        events.wake();
      },
      settlements: () => settlements.wake(),
    },
  );
  const admission: Loop = loop('admission', UNWOKEN_MS, async () => {
    await ledger.apply({ kind: 'admit' });
    return false;
  });
  const eventRelay = new EventRelay({ database, publisher, epoch });
  const events: Loop = loop('events', UNWOKEN_MS, async () => {
    // Before anything is published under a position that the stream may have had already.
    await age.check();
    return await eventRelay.run();
  });
  const settlements: Loop = loop('settlements', 1_000, () => relaySettlements(database, publisher, epoch));
  const letters: Loop = loop('letters', 1_000, () => relayLetters({ bus, publisher, database }));
  // Whoever has not written a tick of late may be coming out of an outage, whose length is yet to be
  // added to leases and queue times.
  let tickedAt = Number.NEGATIVE_INFINITY;
  const hasTicked = () => performance.now() - tickedAt < toGapMs(machine.leaseMs);
  const background = [
    admission,
    events,
    settlements,
    letters,
    loop('letter-retention', 60_000, () => forgetLetters(database, options.letterRetainDays)),
    loop('retention', 60_000, () => forget(database, options.retainDays)),
    loop('erasure', 1_000, createErasure({ bus, database })),
    loop('sweeper', options.sweepMs, () => sweep(ledger, bus, hasTicked(), (error) => onError(error, 'sweeper'))),
    loop('leases', options.sweepMs, async () => {
      return hasTicked() && (await sweepClaims(ledger, bus, (error) => onError(error, 'leases')));
    }),
    loop('tick', 1_000, async () => {
      const onGap = (gapMs: number) =>
        logger.warn({ gapMs }, gapMs > 0 ? 'leases moved by an outage' : 'the clock of the database was set back');
      if (await keepTime(bus, database, machine.leaseMs, onGap)) tickedAt = performance.now();
      return false;
    }),
    loop(
      'reconciler',
      1_000,
      createReconciler({
        ledger,
        everyMs: options.reconcileMs,
        onFault: (error) => onError(error, 'reconciler'),
        onRepair: (repair) => {
          repairs.inc({ what: repair.what });
          logger.error({ ...repair }, 'a task that nothing moved was repaired: a fault led here');
        },
      }),
    ),
    loop('gauges', 5_000, createGauges({ bus, database, metrics, ledger, relay })),
  ];
  relay.start();
  const unwatch = bus.onStatus((status) => {
    if (status.type === 'reconnected') relay.wake();
  });
  for (const each of background) each.start();

  const handlers: HandlerContext = {
    bus,
    tracer,
    publisher,
    ledger,
    rolloutMs: options.rolloutMs,
    onProblem: (problem) => logger.warn({ problem }, 'message not applied; it will come again'),
  };
  const registry = new WorkflowRegistry(options.workflows, (workflow, error) =>
    logger.warn({ err: error, workflow }, 'a registered workflow cannot be read here'),
  );
  const learn = () => withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, (tx) => registry.refresh(tx));
  await learn();
  const overtaker = new Overtaker({ ...handlers, registry });
  // They feed the ledger with new tasks, so they stop before it is drained.
  const feeders = [
    loop('workflows', WORKFLOWS_MS, async () => {
      await learn();
      return false;
    }),
    loop('intake', OVERTAKE_MS, () => overtaker.look()),
    loop('schedules', SCHEDULES_MS, () => runSchedules(ledger, registry)),
  ];
  for (const each of feeders) each.start();
  const served = [
    serveClaims(handlers),
    serveHeartbeats(handlers, () => admission.wake()),
    ...serveSchedules({ ...handlers, registry }),
    ...serveSessions(handlers),
    ...serveControls({ ...handlers, registry, onReplay: () => letters.wake() }),
    ...serveTaskControls(handlers),
    serveModelCalls({ ...handlers, modelLeaseMs: options.modelLeaseMs }),
    serveWorkflows({ ...handlers, registry, learn }),
  ];
  const pulls = {
    intake: startIntake({ ...handlers, registry, overtaker, learn }),
    reports: startReports(handlers),
    settled: startSettled(handlers),
    deadLetters: startDeadLetters(handlers),
  };
  return {
    checks: {
      bus: () => checkBus(bus),
      publishing: () => publisher.problem(),
      database: async () => {
        await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, readEpoch);
        return undefined;
      },
      ...Object.fromEntries(
        Object.entries(pulls).map(([name, pull]) => [
          name,
          () => (pull.health().ready ? undefined : (pull.health().problem ?? 'starting')),
        ]),
      ),
    },
    ended: age.behind,
    stop: async () => {
      await Promise.all(feeders.map((each) => each.stop()));
      await Promise.all([...Object.values(pulls).map((pull) => pull.drain()), ...served.map((each) => each.stop())]);
      await ledger.drained();
      await Promise.all(background.map((each) => each.stop()));
      unwatch();
      await relay.stop();
      publisher.close();
    },
  };
}
