import { createHash } from 'node:crypto';
import {
  AppError,
  canonicalJson,
  DocumentInput,
  type DocumentRef,
  type Envelope,
  type ErrorBody,
  type JsonObject,
  mismatch,
  type TaskState,
  type TaskSubmit,
} from '@cleanslate/contracts';
import {
  type CompiledWorkflow,
  type LedgerInput,
  MACHINE_DEFAULTS,
  type MachineOptions,
  type Submission,
} from '@cleanslate/domain';
import { type Executor, type ModelProvider, offlineModel } from '@cleanslate/runtime';
import { memorySessions, type SessionStore } from '@cleanslate/runtime/testing';
import { z } from 'zod';
import { type FaultPlan, noFaults, type PortCall } from './faults.ts';
import { type DeadLetter, MemoryLedger } from './memory-ledger.ts';
import { type Doorbell, MemoryScheduler, type ReportMessage } from './memory-scheduler.ts';
import { MemoryWorker } from './memory-worker.ts';
import { MemoryQueue } from './queue.ts';
import { bySpeaker } from './sessions-by-speaker.ts';
import { START, VirtualClock } from './virtual-clock.ts';
import { World } from './world.ts';

/** A person's answer to what waits at a gate. */
export type GateDecision = 'approve' | { readonly reject: string } | { readonly edit: JsonObject };

export type MemoryRunOptions = {
  /** Every executor that the workflow names. */
  readonly executors: readonly Executor[];
  /** As a client would submit it; documents as `{ name, mediaType, text }`. */
  readonly input: JsonObject;
  /** Default: none. */
  readonly faults?: FaultPlan;
  /** For executors that wait. Default: one of its own. */
  readonly clock?: VirtualClock;
  /** From the submit. Milliseconds, default one hour. */
  readonly deadlineMs?: number;
  /** Cancels the task that many milliseconds after the submit. */
  readonly cancelAfterMs?: number;
  /** Default: approves. */
  readonly gate?: (result: unknown) => GateDecision;
  /** Default `task-1`. */
  readonly taskId?: string;
  /**
   * What `ctx.session()` keeps. For a conversation of several tasks give several runs the same, and each its `taskId`.
   * Default: `memorySessions()`.
   */
  readonly sessions?: SessionStore;
  /**
   * What `ctx.model` asks. Default: none, the requests' own rules answer. A real one takes
   * real time: see `realLimitMs`.
   */
  readonly model?: ModelProvider;
  /** Default 2. */
  readonly workers?: number;
  /** Leases and the like; defaults as in production. */
  readonly machine?: Partial<MachineOptions>;
  /**
   * Real milliseconds that an executor may take without waiting on `clock`; then it counts as hanging. Default 2,000.
   */
  readonly realLimitMs?: number;
};

export type StepStory = {
  readonly stepId: string;
  readonly state: TaskState;
  /** Dispatches. */
  readonly attempts: number;
  /** What the retry policy counted. */
  readonly spent: number;
  /** How often its executor ran. */
  readonly runs: number;
  /** How often a result of it was taken: never more than once. */
  readonly effects: number;
  readonly output: JsonObject | null;
  readonly error: ErrorBody | null;
};

export type MemoryRun = {
  readonly state: TaskState;
  readonly result: unknown;
  readonly error: ErrorBody | null;
  readonly round: number;
  readonly steps: readonly StepStory[];
  /** What a watcher is told, in order; `sequence` counts them. */
  readonly events: readonly Envelope[];
  readonly deadLetters: readonly DeadLetter[];
  /** Messages that had no right to change anything: a late report, for instance. */
  readonly refused: readonly string[];
  /** Faults that came to pass. */
  readonly faults: readonly string[];
  /** Every point at which a process could have died. */
  readonly portCalls: readonly PortCall[];
  /** Virtual milliseconds until all was quiet. */
  readonly elapsedMs: number;
  /** Messages, commands and claims that are left over: none. */
  readonly left: number;
  /** Everything that happened, a line each, for a person. */
  readonly story: string;
};

const ACK_WAIT_MS = { doorbell: 15_000, report: 10_000 };
const SUBMIT_AGAIN_MS = 2_000;
const MAX_EVENTS = 200_000;

/**
 * Runs one task of a workflow in memory: the same pure machine as in production, behind a scheduler, workers and a
 * broker that can fail, in virtual time. Resolves when all is quiet. Throws `CONFIGURATION` for a missing executor,
 * `INVALID_INPUT`, and an `Error` with the story where the task never comes to rest.
 */
export async function runInMemory(workflow: CompiledWorkflow, options: MemoryRunOptions): Promise<MemoryRun> {
  const { clock = new VirtualClock(), faults = noFaults, deadlineMs = 3_600_000 } = options;
  checkExecutors(workflow, options.executors);
  const documents = new Map<string, string>();
  const submission = toSubmission(
    workflow,
    readInput(workflow, options.input, documents),
    deadlineMs,
    options.taskId ?? 'task-1',
  );
  const world = new World(clock, faults.begin());
  const runs = new Map<string, number>();
  const { ledger, scheduler, queues } = compose(world, options, documents, runs);
  submit(world, scheduler, ledger, submission);
  if (options.cancelAfterMs !== undefined) clock.after(options.cancelAfterMs, () => control(world, scheduler, CANCEL));
  try {
    await clock.run({
      realLimitMs: options.realLimitMs ?? 2_000,
      maxEvents: MAX_EVENTS,
      onStall: () => world.tell('an executor takes real time: it counts as hanging'),
    });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${world.story.slice(-40).join('\n')}`, {
      cause: error,
    });
  }
  return toRun(world, ledger, runs, ledger.unpublished.length + queues.reduce((sum, queue) => sum + queue.size, 0));
}

const CANCEL: LedgerInput = { kind: 'cancel', reason: 'cancelled by the test' };

function compose(
  world: World,
  options: MemoryRunOptions,
  documents: ReadonlyMap<string, string>,
  runs: Map<string, number>,
) {
  const machine = { ...MACHINE_DEFAULTS, ...options.machine };
  const ledger = new MemoryLedger(world.clock.now, machine);
  const doorbells = new MemoryQueue<Doorbell>(world, 'doorbell', ACK_WAIT_MS.doorbell);
  const reports = new MemoryQueue<ReportMessage>(world, 'report', ACK_WAIT_MS.report);
  const workers: MemoryWorker[] = [];
  const scheduler = new MemoryScheduler(world, {
    ledger,
    doorbells,
    reports,
    onAbort: (claimId) => {
      for (const worker of workers) worker.abort(claimId);
    },
    decideGate: (sha256, result) => toGateInput(sha256, options.gate?.(result) ?? 'approve'),
  });
  const sessions = bySpeaker(options.sessions ?? memorySessions(), ledger);
  for (let i = 1; i <= (options.workers ?? 2); i++)
    workers.push(
      new MemoryWorker(world, {
        name: `worker-${i}`,
        executors: options.executors,
        scheduler,
        doorbells,
        reports,
        leaseMs: machine.leaseMs,
        sessions,
        model: options.model ?? offlineModel(),
        readDocument: ({ sha256 }: DocumentRef) => documents.get(sha256) ?? '',
        holds: (fence) => ledger.isHeldBy(fence),
        onRun: (stepId) => runs.set(stepId, (runs.get(stepId) ?? 0) + 1),
      }),
    );
  let turn = 0;
  // To each in turn, as a shared durable hands them out.
  doorbells.consumer = (delivery) => workers.some(() => workers[turn++ % workers.length]?.take(delivery) ?? false);
  reports.consumer = (delivery) => scheduler.report(delivery);
  return { ledger, scheduler, queues: [doorbells, reports] };
}

/** As the client does: again with the same key until it is accepted. */
function submit(world: World, scheduler: MemoryScheduler, ledger: MemoryLedger, submission: Submission): void {
  if (ledger.state !== undefined) return;
  world.send('submit', () => scheduler.submit(submission, () => undefined));
  world.clock.after(SUBMIT_AGAIN_MS, () => submit(world, scheduler, ledger, submission));
}

/** A request of a person or client: repeated until it is answered. */
function control(world: World, scheduler: MemoryScheduler, input: LedgerInput): void {
  let done = false;
  scheduler.control(input, () => {
    done = true;
  });
  if (!done) world.clock.after(SUBMIT_AGAIN_MS, () => control(world, scheduler, input));
}

function toGateInput(sha256: string, decision: GateDecision): LedgerInput {
  if (decision === 'approve') return { kind: 'gate', action: 'approve', sha256 };
  if ('edit' in decision) return { kind: 'gate', action: 'edit', sha256, result: decision.edit };
  return { kind: 'gate', action: 'reject', sha256, reason: decision.reject };
}

function checkExecutors({ name, plan }: CompiledWorkflow, executors: readonly Executor[]): void {
  const given = new Set(executors.map((executor) => `${executor.role} ${executor.name}`));
  const wanted = plan.steps.flatMap((step) => [step, ...(step.compensate ? [step.compensate] : [])]);
  const missing = wanted.filter(({ role, executor }) => !given.has(`${role} ${executor}`));
  if (missing.length === 0) return;
  const list = [...new Set(missing.map(({ role, executor }) => `"${executor}" of role "${role}"`))].join(', ');
  throw new AppError('CONFIGURATION', `workflow "${name}" needs executors that were not given: ${list}`);
}

/** Documents become references, as at the platform's intake; then the whole input must fit the workflow's schema. */
function readInput({ plan }: CompiledWorkflow, input: JsonObject, documents: Map<string, string>): JsonObject {
  const schema = z.fromJSONSchema(plan.inputSchema as Parameters<typeof z.fromJSONSchema>[0]);
  const checked = schema.safeParse(input);
  if (!checked.success) throw new AppError('INVALID_INPUT', mismatch('input', checked.error).message);
  const stored: JsonObject = structuredClone(input);
  for (const field of plan.documents) {
    if (stored[field] === undefined) continue;
    const { name, mediaType, text } = DocumentInput.parse(stored[field]);
    const sha256 = sha256Of(text);
    documents.set(sha256, text);
    stored[field] = { name, mediaType, sha256, bytes: Buffer.byteLength(text) } satisfies DocumentRef;
  }
  return stored;
}

function toSubmission(
  { name, plan, planHash }: CompiledWorkflow,
  input: JsonObject,
  deadlineMs: number,
  taskId: string,
): Submission {
  const submit: TaskSubmit = { workflow: name, input, key: 'in-memory', deadlineMs };
  return {
    tenantId: 'acme',
    taskId,
    submitId: 'submit-1',
    bodyHash: sha256Of(canonicalJson(input)),
    planHash,
    plan,
    pin: { validAt: new Date(START).toISOString(), revision: 0 },
    traceparent: null,
    submit,
  };
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function toRun(world: World, ledger: MemoryLedger, runs: ReadonlyMap<string, number>, left: number): MemoryRun {
  if (ledger.state === undefined) throw new Error(`the task was never accepted\n${world.story.join('\n')}`);
  const { task, steps } = ledger.state;
  return {
    state: task.state,
    result: task.result,
    error: task.error,
    round: task.round,
    steps: steps.map(({ stepId, state, attempt, spent, output, error }) => ({
      stepId,
      state,
      attempts: attempt,
      spent,
      output,
      error,
      runs: runs.get(stepId) ?? 0,
      effects: ledger.effects.get(stepId) ?? 0,
    })),
    events: ledger.events,
    deadLetters: ledger.deadLetters,
    refused: ledger.refused,
    faults: world.struck,
    portCalls: world.portCalls,
    elapsedMs: world.elapsedMs,
    left,
    story: world.story.join('\n'),
  };
}
