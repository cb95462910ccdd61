import { type Bus, deadLetter, Publisher, type PulledMessage, PullLoop } from '@cleanslate/bus';
import {
  type AttemptRef,
  ClaimAbort,
  decodeMessage,
  type HeartbeatReply,
  subjects,
  workConsumer,
} from '@cleanslate/contracts';
import { type ModelProvider, offlineModel } from '@cleanslate/llm';
import type { Executor } from '../executor/executor.ts';
import { checkBus } from '../health/check-bus.ts';
import type { ReadyChecks } from '../health/health-server.ts';
import type { Metrics } from '../health/metrics.ts';
import type { Logger } from '../log/logger.ts';
import { sessionStoreOf } from '../memory/session-store.ts';
import { PASSING_TRACER, type Tracer } from '../tracing/tracer.ts';
import { BreakerBoard } from './breaker-board.ts';
import { Claim, toClaimId } from './claim.ts';
import { ClaimBook } from './claim-book.ts';
import { ClaimDesk, type ClaimOutcome } from './claim-desk.ts';
import { readAttempt, readTrace } from './doorbell.ts';
import { callOff, type EarlyRun, EarlyRuns } from './early-runs.ts';
import { findFaultyClaim } from './fault-tracing.ts';
import { FinishDesk } from './finish-desk.ts';
import { HeartbeatLoop } from './heartbeat-loop.ts';
import { newWorkerIdentity, type WorkerIdentity } from './identity.ts';
import { indexExecutors } from './index-executors.ts';
import { type ObjectStore, objectStoreOf } from './objects.ts';
import { PullControl } from './pull-control.ts';
import { ReportDesk } from './report-desk.ts';
import { Running } from './running.ts';
import { SlowWatch } from './slow-watch.ts';
import { logStep } from './step-log.ts';
import { runStep, type StepResult, type StepRunnerOptions } from './step-runner.ts';
import { endStepSpan, startStepSpan } from './step-span.ts';
import { createWorkerMetrics, type WorkerMetrics } from './worker-metrics.ts';

export type WorkerOptions = {
  readonly bus: Bus;
  readonly role: string;
  readonly executors: readonly Executor[];
  /** Steps running at once. */
  readonly slots: number;
  /** Assumed until the ledger names its own. Milliseconds, default 10 s. */
  readonly leaseMs?: number;
  /** How long running steps may take after `drain` was called; the rest is handed back. Milliseconds. */
  readonly graceMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: passes trace context on and records nothing. */
  readonly tracer?: Tracer;
  /** How long a stopped executor may take to react. Milliseconds, default 5 s. */
  readonly abandonMs?: number;
  /** Default: no model, the rules answer. */
  readonly model?: ModelProvider;
  /** Default: a new one. */
  readonly identity?: WorkerIdentity;
};

/** After this long without an answer, readiness says so. */
const SILENT_MS = 15_000;
/** A step that takes longer announces its start, and a `pure` one asks for its claim. */
const SLOW_MS = 50;
/**
 * A report the ledger has neither applied nor found stale by then is repeated; from the third time on ever more rarely,
 * so that no backlog feeds itself.
 */
const REPEAT_AFTER_MS = 10_000;
/**
 * Most reports repeated after one answer: a scheduler that is behind with thousands of them must
 * not get them all again at once.
 */
const MAX_REPEATS = 100;
/** Time after the grace period for handed-back steps to react, and for their reports to be stored. */
const HAND_BACK_MS = 2_000;
const LAST_REPORTS_MS = 5_000;
/** An attempt beyond it is not handed back after the fault of another: it may itself be what ends the workers. */
const MAX_HANDED_BACK = 10;

/** Starts consuming the role's commands; throws `CONFIGURATION` for executors of another role or two of one name. */
export function startWorker(options: WorkerOptions): Worker {
  const worker = new Worker(options);
  worker.start();
  return worker;
}

/**
 * Takes doorbells, claims their attempts, runs them and reports how they ended (design/10 "Consuming"). A doorbell is
 * not the right to work; only the claim is, so a redelivery can never start a second run of the same attempt.
 */
export class Worker {
  readonly identity: WorkerIdentity;
  readonly #options: WorkerOptions;
  readonly #logger: Logger;
  readonly #metrics: WorkerMetrics;
  readonly #tracer: Tracer;
  readonly #book = new ClaimBook();
  readonly #publisher: Publisher;
  readonly #desk: ClaimDesk;
  readonly #reports: ReportDesk;
  readonly #early: EarlyRuns;
  readonly #heartbeat: HeartbeatLoop;
  readonly #loop: PullLoop;
  readonly #pulls: PullControl;
  readonly #runner: StepRunnerOptions;
  readonly #running = new Running();
  #draining: Promise<void> | undefined;
  readonly #breakers: BreakerBoard;

  constructor(options: WorkerOptions) {
    const { bus, role, logger } = options;
    this.#options = options;
    this.identity = options.identity ?? newWorkerIdentity(role);
    this.#logger = logger.child({ worker: this.identity.workerId });
    this.#metrics = createWorkerMetrics(options.metrics);
    this.#tracer = options.tracer ?? PASSING_TRACER;
    const { source } = this.identity;
    const objects: ObjectStore = objectStoreOf(bus, source);
    this.#publisher = new Publisher(bus, { onRetry: (stream) => this.#metrics.publishRetries.inc({ stream }) });
    this.#desk = new ClaimDesk({ bus, identity: this.identity, onFailure: (error) => this.#claimFailed(error) });
    this.#reports = new ReportDesk({ bus, publisher: this.#publisher, role, source, logger: this.#logger });
    this.#heartbeat = new HeartbeatLoop({
      bus,
      identity: this.identity,
      book: this.#book,
      leaseMs: options.leaseMs ?? 10_000,
      capacity: () => this.#capacity(),
      onReply: (reply) => this.#learn(reply),
      onFailure: (error) => {
        this.#metrics.heartbeatFailures.inc({ role });
        this.#logger.debug({ err: error }, 'heartbeat not answered');
      },
    });
    const { stream, durable } = workConsumer(role);
    this.#loop = new PullLoop(bus, {
      stream,
      durable,
      slots: options.slots,
      freeOn: 'release',
      onMessage: (message) => this.#take(message),
      onProblem: (problem) => this.#logger.warn({ durable, problem }, 'consumer'),
    });
    this.#pulls = new PullControl({ loop: this.#loop, slots: options.slots, logger: this.#logger });
    this.#breakers = new BreakerBoard({ slots: options.slots, onRoom: (room) => this.#pulls.makeRoom(room) });
    this.#runner = {
      bus,
      publisher: this.#publisher,
      objects,
      desk: this.#desk,
      role,
      source,
      logger: this.#logger,
      model: options.model ?? offlineModel(),
      sessions: sessionStoreOf(bus, source),
      slow: new SlowWatch(SLOW_MS),
      ...(options.abandonMs === undefined ? {} : { abandonMs: options.abandonMs }),
      executors: indexExecutors(role, options.executors),
      breakers: this.#breakers,
      maxBytes: () => bus.maxPayload,
      onAbandoned: ({ fence }) => {
        this.#metrics.abandoned.inc({ role });
        this.#logger.error({ task: fence.taskId, step: fence.stepId }, 'the executor ignores its signal: slot freed');
      },
    };
    const onFailure = (error: unknown) => this.#claimFailed(error);
    this.#early = new EarlyRuns(this.#runner, new FinishDesk({ bus, identity: this.identity, onFailure }));
  }

  start(): void {
    const { bus, role } = this.#options;
    bus.subscribe(subjects.abort(role, this.identity.workerId), (message) => this.#abort(message.data), {
      onError: (error) => this.#logger.warn({ err: error }, 'abort message not read'),
    });
    this.#heartbeat.start();
    this.#loop.start();
    this.#logger.info({ role, slots: this.#options.slots }, 'worker started');
  }

  checks(): ReadyChecks {
    return {
      bus: () => checkBus(this.#options.bus),
      consumer: () => {
        const { ready, problem, state } = this.#loop.health();
        this.#metrics.consumerReady.set({ durable: workConsumer(this.#options.role).durable }, ready ? 1 : 0);
        return ready ? undefined : (problem ?? state);
      },
      scheduler: () => {
        const silent = this.#heartbeat.silentMs;
        return silent < SILENT_MS ? undefined : `no heartbeat answered for ${Math.round(silent / 1_000)} s`;
      },
      reports: () => {
        const waiting = this.#reports.waitingMs;
        return waiting < SILENT_MS
          ? undefined
          : `the stream REPORTS takes nothing for ${Math.round(waiting / 1_000)} s`;
      },
    };
  }

  /**
   * Stops pulling, lets running steps finish within the grace period, hands the rest back with a stored report. Never
   * throws.
   */
  drain(graceMs = this.#options.graceMs): Promise<void> {
    this.#draining ??= this.#drain(graceMs);
    return this.#draining;
  }

  /**
   * Called by the process's handler of a fault that nobody handled, and that will end it. If an executor is known to
   * have left it, its attempt fails with it, unless that is over, and the others are handed back, unspent. Undefined if
   * none is: all go silent, and the ledger counts each.
   */
  endFor(fault: unknown): Promise<void> | undefined {
    const faulty = findFaultyClaim();
    if (faulty === undefined) return undefined;
    const { taskId: task, stepId: step, attempt } = faulty.fence;
    this.#logger.error({ task, step, attempt }, 'its executor left a fault to nobody, which ends the worker');
    faulty.fail(fault);
    const draining = this.drain(0);
    // At once, also in a drain that has a grace period.
    for (const claim of this.#book.active()) {
      if (claim.stopped !== undefined) continue;
      if (claim.fence.attempt > MAX_HANDED_BACK) claim.stop('lost');
      else if (claim.state === 'running') claim.stop('drain');
    }
    return draining;
  }

  #take(message: PulledMessage): void {
    let attempt: AttemptRef;
    try {
      attempt = readAttempt(message, this.#options.role);
    } catch (error) {
      void this.#running.track(this.#putAside(message, error));
      return;
    }
    const claimId = toClaimId(this.identity.workerId, attempt);
    if (this.#book.has(claimId)) {
      this.#metrics.duplicateDoorbells.inc({ role: this.#options.role });
      message.ack();
      message.release();
      return;
    }
    const claim = new Claim({ ...attempt, claimId }, readTrace(message));
    this.#book.add(claim);
    void this.#running.track(this.#work(claim, message));
  }

  async #work(claim: Claim, message: PulledMessage): Promise<void> {
    try {
      const run = this.#draining === undefined ? this.#early.begin(claim, message) : undefined;
      if (run !== undefined && (await this.#isFinishedEarly(claim, message, run))) return;
      // A worker that still asks is not silent. One that froze with a doorbell in hand is, and loses it soon.
      const outcome = await this.#desk.ask(claim.fence, () => message.working());
      if (outcome === 'unanswered' || outcome.answer !== 'granted') await callOff(claim, message, run);
      if (this.#isGranted(claim, message, outcome)) await this.#runAndReport(claim, message, run);
    } catch (error) {
      // Nothing above throws; if it does, the claim goes silent and the ledger ends it.
      this.#logger.error({ err: error, task: claim.fence.taskId }, 'attempt lost');
      this.#book.remove(claim);
    } finally {
      claim.ended();
      message.release();
    }
  }

  #isGranted(claim: Claim, message: PulledMessage, outcome: ClaimOutcome): boolean {
    const answer = outcome === 'unanswered' ? outcome : outcome.answer;
    this.#metrics.claims.inc({ role: this.#options.role, answer });
    if (outcome !== 'unanswered' && outcome.answer === 'granted') {
      message.ack();
      if (outcome.leaseMs !== undefined) this.#heartbeat.learnLease(outcome.leaseMs);
      claim.granted(outcome);
      return true;
    }
    this.#book.remove(claim);
    if (answer === 'lost' || answer === 'over') message.ack();
    else {
      message.nak(1_000 + Math.random() * 4_000);
      if (answer === 'unanswered') this.#pulls.ledgerIsSilent();
    }
    return false;
  }

  async #isFinishedEarly(claim: Claim, message: PulledMessage, run: EarlyRun): Promise<boolean> {
    const { role } = this.#options;
    const span = startStepSpan(this.#tracer, role, claim);
    const result = await this.#early.unlessSlow(run);
    if (result?.report?.outcome !== 'succeeded') return false;
    const answer = await this.#early.handIn(claim, result.report);
    if (answer === 'unanswered') return false;
    this.#metrics.claims.inc({ role, answer });
    this.#book.remove(claim);
    message.ack();
    if (answer === 'granted') {
      endStepSpan(span, claim, result);
      logStep(this.#logger, this.#metrics, this.#options.role, claim, result);
    }
    return true;
  }

  async #runAndReport(claim: Claim, message: PulledMessage, run?: EarlyRun): Promise<void> {
    if (this.#draining !== undefined) claim.stop('drain');
    // Stopped before it ran: cancelled while its grant was on the way, or the worker drains.
    const early = claim.stopped === 'drain' ? ({ outcome: 'released', reason: 'drain' } as const) : undefined;
    const span = startStepSpan(this.#tracer, this.#options.role, claim);
    // A run that began before the grant knows how it was stopped: by its own timeout, perhaps, which it reports.
    const result: StepResult =
      claim.stopped !== undefined && run === undefined
        ? { report: early, executor: 'none', durationMs: 0 }
        : await (run ?? runStep(this.#runner, claim, message));
    claim.ended();
    endStepSpan(span, claim, result);
    logStep(this.#logger, this.#metrics, this.#options.role, claim, result);
    const stored = result.report && (await this.#reports.store(claim, result.report));
    if (stored) this.#book.report(claim, stored);
    else this.#book.remove(claim);
  }

  async #putAside(message: PulledMessage, error: unknown): Promise<void> {
    const { bus, role } = this.#options;
    const consumer = workConsumer(role);
    const { source } = this.identity;
    const stored = await deadLetter({ bus, publisher: this.#publisher, consumer, source }, message, error);
    message.release();
    this.#metrics.deadLetters.inc({ role, stored: String(stored) });
    this.#logger.warn({ err: error, subject: message.subject, stored }, 'command of no attempt put aside');
  }

  #learn(reply: HeartbeatReply): void {
    for (const { claimId } of reply.lost) this.#stop(claimId, 'lost');
    for (const { claimId } of reply.cancelled) this.#stop(claimId, 'cancelled');
    for (const { claimId } of reply.settled) {
      const claim = this.#book.findReported(claimId);
      if (claim) this.#book.remove(claim);
    }
    for (const claim of this.#book.reported(MAX_REPEATS)) {
      if (performance.now() - claim.storedAt < REPEAT_AFTER_MS * 2 ** Math.max(0, claim.repeats - 1)) continue;
      this.#metrics.repeatedReports.inc({ role: this.#options.role });
      void this.#running.track(this.#reports.repeat(claim));
    }
    this.#pulls.ledgerAnswers();
  }

  #abort(body: Uint8Array): void {
    const { claimId } = decodeMessage([ClaimAbort], body).envelope.data;
    this.#stop(claimId, 'cancelled');
  }

  #stop(claimId: string, reason: 'lost' | 'cancelled'): void {
    this.#book.findActive(claimId)?.stop(reason);
    const reported = this.#book.findReported(claimId);
    if (reported) this.#book.remove(reported);
  }

  #claimFailed(error: unknown): void {
    this.#metrics.claimFailures.inc({ role: this.#options.role });
    this.#logger.debug({ err: error }, 'claim not answered');
  }

  #capacity(): { slots: number; free: number } {
    const { role, slots } = this.#options;
    const free = this.#pulls.isTaking ? this.#loop.free : 0;
    this.#metrics.slots.set({ role, state: 'free' }, free);
    this.#metrics.slots.set({ role, state: 'busy' }, this.#loop.inHand);
    // A worker that drains takes nothing more: the ledger must not count its slots.
    return { slots: this.#draining === undefined ? slots : 0, free };
  }

  async #drain(graceMs: number): Promise<void> {
    this.#breakers.stop();
    await this.#pulls.drain();
    void this.#heartbeat.beat();
    if (!(await this.#running.idleWithin(graceMs))) {
      for (const claim of this.#book.active()) if (claim.state === 'running') claim.stop('drain');
      await this.#running.idleWithin(HAND_BACK_MS + LAST_REPORTS_MS);
    }
    this.#reports.giveUp();
    await this.#heartbeat.stop();
    await this.#options.bus.flush().catch(() => undefined);
    this.#publisher.close();
    this.#logger.info({ unfinished: this.#running.count }, 'worker drained');
  }
}
