import {
  AppError,
  type ClaimAnswer,
  type DocumentRef,
  type Fence,
  type JsonObject,
  type StepReport,
  StepRun,
} from '@cleanslate/contracts';
import type { Executor, ModelProvider, StepContext } from '@cleanslate/runtime';
import {
  fakeStepContext,
  openStepModel,
  openStepSessions,
  type SessionStore,
  toReportedError,
} from '@cleanslate/runtime/testing';
import type { Doorbell, HeartbeatAnswer, MemoryScheduler, ReportMessage } from './memory-scheduler.ts';
import type { Delivery, MemoryQueue } from './queue.ts';
import { Process, type World } from './world.ts';

export type WorkerParts = {
  readonly name: string;
  readonly executors: readonly Executor[];
  readonly scheduler: MemoryScheduler;
  readonly doorbells: MemoryQueue<Doorbell>;
  readonly reports: MemoryQueue<ReportMessage>;
  readonly leaseMs: number;
  readonly sessions: SessionStore;
  readonly model: ModelProvider;
  readonly readDocument: (ref: DocumentRef) => string;
  /** Asks the ledger whether the claim still holds. */
  readonly holds: (fence: Fence) => boolean;
  /** Every execution of a step, also one whose result counts for nothing. */
  readonly onRun: (stepId: string) => void;
};

/** One attempt in the worker's hands, from the claim until the ledger has settled its report. */
type Claim = {
  readonly fence: Fence;
  readonly abort: AbortController;
  granted: boolean;
  report: StepReport | undefined;
  endsAt: number;
};

type OpenStep = { readonly context: StepContext; readonly storeSessions: () => Promise<void> };

const RESTART_MS = 1_000;
const ANSWER_MS = 2_000;
const TRIES = 3;
const NAK_MS = 3_000;
const AGAIN_MS = 1_000;
const REPEAT_MS = 10_000;
const WORK_MS = 10;

/**
 * A worker as the runtime's: doorbell, claim, run, report, and heartbeats until the report is settled.
 * It keeps nothing over a crash.
 */
export class MemoryWorker extends Process {
  readonly #parts: WorkerParts;
  readonly #claims = new Map<string, Claim>();
  #beating = false;

  constructor(world: World, parts: WorkerParts) {
    super(world, RESTART_MS);
    this.#parts = parts;
  }

  /** True where it took the doorbell. */
  take(delivery: Delivery<Doorbell>): boolean {
    if (!this.alive) return false;
    this.bound(() => this.#take(delivery))();
    return true;
  }

  abort(claimId: string): void {
    this.bound(() => this.#drop(claimId, new AppError('CANCELLED', 'the claim was ended')))();
  }

  protected onDeath(): void {
    this.#claims.clear();
    this.#beating = false;
  }

  protected onStart(): void {
    this.world.tell(`${this.#id} is back`);
  }

  get #id(): string {
    return `${this.#parts.name}-${this.life}`;
  }

  #take({ seq, body }: Delivery<Doorbell>): void {
    const { tenantid = '', taskid = '' } = body.envelope;
    const attempt = { epoch: 1, tenantId: tenantid, taskId: taskid, stepId: body.stepId, attempt: body.attempt };
    const claimId = `${this.#id}:${body.stepId}/${body.attempt}`;
    const known = this.#claims.get(claimId);
    if (known !== undefined) {
      if (known.granted) this.#ack(seq);
      return;
    }
    const claim: Claim = {
      fence: { ...attempt, claimId },
      abort: new AbortController(),
      granted: false,
      report: undefined,
      endsAt: Number.POSITIVE_INFINITY,
    };
    this.#claims.set(claimId, claim);
    this.#ask(claim, seq, body, 1);
  }

  /** Up to three times with the same claim id; then the doorbell comes again later. */
  #ask(claim: Claim, seq: number, body: Doorbell, tries: number): void {
    const { scheduler } = this.#parts;
    let answered = false;
    const onAnswer = this.bound((answer: ClaimAnswer) => {
      if (answered) return;
      answered = true;
      this.#onAnswer(claim, seq, body, answer);
    });
    this.world.clock.after(
      ANSWER_MS,
      this.bound(() => {
        if (answered) return;
        answered = true;
        if (tries < TRIES) return this.#ask(claim, seq, body, tries + 1);
        this.#claims.delete(claim.fence.claimId);
        this.#parts.doorbells.nak(seq, NAK_MS);
      }),
    );
    this.world.call('worker', 'claim', () =>
      this.world.send('claim', () => scheduler.claim(claim.fence, this.#id, onAnswer)),
    );
  }

  #onAnswer(claim: Claim, seq: number, body: Doorbell, { answer, remainingMs = 0 }: ClaimAnswer): void {
    if (this.#claims.get(claim.fence.claimId) !== claim || claim.granted) return;
    if (answer === 'granted') claim.granted = true;
    else this.#claims.delete(claim.fence.claimId);
    this.#ack(seq);
    if (answer !== 'granted') return;
    claim.endsAt = this.world.clock.now() + remainingMs;
    this.#beatSoon();
    this.#run(claim, body);
  }

  #ack(seq: number): void {
    this.world.call('worker', 'ack doorbell', () => this.#parts.doorbells.ack(seq));
  }

  #run(claim: Claim, body: Doorbell): void {
    const { stepId, attempt } = claim.fence;
    const command = StepRun.data.parse(body.envelope.data);
    const executor = this.#parts.executors.find(({ name }) => name === command.executor);
    if (executor === undefined) throw new AppError('CONFIGURATION', `no executor "${command.executor}" was given`);
    const fault = this.world.executorFault(stepId, attempt);
    const report = this.bound((made: StepReport) => this.#report(claim, made));
    const limitMs = Math.min(claim.endsAt - this.world.clock.now(), executor.timeoutMs ?? Number.POSITIVE_INFINITY);
    claim.endsAt = this.world.clock.now() + limitMs;
    const stop = new AppError('ATTEMPT_TIMEOUT', 'the attempt reached its timeout or the task its deadline');
    // One that ignores its signal loses the claim all the same.
    const forget = this.world.clock.after(limitMs, () => {
      claim.abort.abort(stop);
      report({ outcome: 'failed', error: stop.toBody() });
    });
    if (fault === 'fail') {
      forget();
      return report({ outcome: 'failed', error: new AppError('EXECUTOR_FAILED', 'a fault of the plan').toBody() });
    }
    const workMs = typeof fault === 'object' ? fault.takesMs : WORK_MS;
    const start = this.bound(() =>
      this.#execute(claim, command, executor, (made) =>
        this.world.clock.after(workMs, () => {
          forget();
          report(made);
        }),
      ),
    );
    if (fault !== 'freeze') return start();
    // It begins when the worker goes on, as if nothing had been.
    this.freeze(3 * this.#parts.leaseMs);
    this.world.clock.after(1, start);
  }

  #execute(claim: Claim, command: StepRun, executor: Executor, onEnd: (report: StepReport) => void): void {
    const { stepId, attempt } = claim.fence;
    const candidates: string[] = [];
    const { context, storeSessions } = this.#contextOf(claim, command, executor.pure, candidates);
    this.world.call('worker', 'run', () => {
      this.#parts.onRun(stepId);
      this.world.tell(`${this.#id}: runs ${stepId}/${attempt}`);
      const work = async () => {
        const output = await executor.execute(context, structuredClone(command.input));
        await storeSessions();
        return output;
      };
      this.world.clock.execute(() => toReport(work, candidates), onEnd);
    });
  }

  #report(claim: Claim, report: StepReport): void {
    if (this.#claims.get(claim.fence.claimId) !== claim || claim.report !== undefined) return;
    claim.report = report;
    this.#publish(claim);
  }

  /** Until it is stored; and once more where the ledger has not settled it for a while. */
  #publish(claim: Claim): void {
    const { report, fence } = claim;
    if (report === undefined || this.#claims.get(fence.claimId) !== claim) return;
    const messageId = `${fence.claimId}.${Math.floor(this.world.clock.now() / REPEAT_MS)}`;
    const seq = this.world.call('worker', 'report', () =>
      this.#parts.reports.publish(messageId, { fence, report: structuredClone(report) }),
    );
    this.world.clock.after(
      seq === undefined ? AGAIN_MS : REPEAT_MS,
      this.bound(() => this.#publish(claim)),
    );
  }

  #beatSoon(): void {
    if (this.#beating) return;
    this.#beating = true;
    this.world.clock.after(
      this.#parts.leaseMs / 3,
      this.bound(() => this.#beat()),
    );
  }

  #beat(): void {
    this.#beating = false;
    const claims = [...this.#claims.values()].filter(({ granted }) => granted);
    if (claims.length === 0) return;
    const fences = (reported: boolean) =>
      claims.filter(({ report }) => (report !== undefined) === reported).map(({ fence }) => fence);
    const onAnswer = this.bound(({ lost, settled }: HeartbeatAnswer) => {
      for (const claimId of lost) this.#drop(claimId, new AppError('STALE_ATTEMPT', 'the claim no longer holds'));
      for (const claimId of settled) this.#claims.delete(claimId);
    });
    this.world.call('worker', 'heartbeat', () =>
      this.world.send('heartbeat', () => this.#parts.scheduler.heartbeat(fences(false), fences(true), onAnswer)),
    );
    this.#beatSoon();
  }

  #drop(claimId: string, reason: AppError): void {
    this.#claims.get(claimId)?.abort.abort(reason);
    this.#claims.delete(claimId);
  }

  #contextOf(claim: Claim, command: StepRun, pure: boolean, candidates: string[]): OpenStep {
    const { claimId, ...attempt } = claim.fence;
    const { clock } = this.world;
    const isAlive = this.#isAliveIn();
    const requireOpen = () => {
      if (pure) throw impure('session()');
    };
    const { signal } = claim.abort;
    const logger = () => context.logger;
    const { round } = command;
    const sessions = openStepSessions(this.#parts.sessions, { fence: claim.fence, round, signal, logger, requireOpen });
    const context = fakeStepContext({
      session: sessions.open,
      attempt,
      round,
      pin: command.pin,
      workflow: command.workflow,
      tenantId: attempt.tenantId,
      taskId: attempt.taskId,
      idempotencyKey: command.idempotencyKey,
      signal: claim.abort.signal,
      model: openStepModel(this.#parts.model, { signal: claim.abort.signal, attempt, pure }).model,
      deadline: () => Math.max(0, claim.endsAt - clock.now()),
      fence: async () => {
        if (pure) throw impure('fence()');
        claim.abort.signal.throwIfAborted();
        // While the ledger can't be asked, the step waits.
        while (!this.#parts.scheduler.alive) await clock.sleep(AGAIN_MS, claim.abort.signal);
        // A dead process asks nobody; its leftovers must do nothing more.
        if (isAlive() && this.#parts.holds(claim.fence)) return;
        throw new AppError('STALE_ATTEMPT', 'the claim on this attempt no longer holds');
      },
      blackboard: {
        propose: async () => {
          if (pure) throw impure('blackboard.propose()');
          candidates.push(`cand-${claimId.replaceAll(/[^a-z0-9]/g, '-')}-${candidates.length + 1}`);
          return candidates.at(-1) ?? '';
        },
      },
      documents: { read: async (ref) => this.#parts.readDocument(ref) },
    });
    const storeSessions = async () => {
      // As the ledger would: what a dead process's leftovers say, or who lost the claim, is not kept.
      if (isAlive() && this.#parts.holds(claim.fence)) await sessions.store();
    };
    return { context, storeSessions };
  }

  #isAliveIn(): () => boolean {
    const { life } = this;
    return () => this.alive && this.life === life;
  }
}

/** As the runtime: what may run without a claim must do nothing to the outside. */
function impure(what: string): AppError {
  return new AppError('OUTPUT_CONTRACT', `a pure executor has no use for ${what}: define it without \`pure: true\``);
}

async function toReport(work: () => Promise<JsonObject>, candidates: readonly string[]): Promise<StepReport> {
  try {
    const output = JSON.parse(JSON.stringify(await work())) as JsonObject;
    return { outcome: 'succeeded', output, usage: { durationMs: 0 }, candidates: [...candidates] };
  } catch (error) {
    return { outcome: 'failed', error: toReportedError(error) };
  }
}
