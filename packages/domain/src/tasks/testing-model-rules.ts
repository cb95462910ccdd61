import type { Decided } from './decide.ts';
import type { LedgerEvent } from './events.ts';
import type { LedgerInput } from './inputs.ts';
import type { Aggregate, Step } from './state.ts';
import { USAGE } from './testing.ts';
import { assertMonotonic, assertMoves } from './testing-invariants.ts';
import { toOutgoing } from './to-outgoing.ts';
import { isTerminal } from './transitions.ts';

/** What every single move of the model must keep to, and what must not move it at all. */

/** Why a step is given up on: each time somebody must hear of it. */
const GIVEN_UP: ReadonlySet<string> = new Set([
  ...['report_failed', 'lease_expired', 'attempt_timeout', 'queue_expired', 'rings_exhausted', 'unsendable'],
]);

export function assertTransition(before: Aggregate, input: LedgerInput, decided: Decided): void {
  const events = decided.changes.map((change) => change.event);
  for (const change of decided.changes) {
    assertMoves(change.before, change.after);
    assertTold(change);
  }
  assertMonotonic(before, decided.state);
  assertEffects(before, input, events);
  assertLetters(before, events);
  assertEnd(before, events, decided.state);
}

/** A result is taken from the one claim of a running attempt, once; a claim is given where none was. */
function assertEffects(before: Aggregate, input: LedgerInput, events: readonly LedgerEvent[]): void {
  const of = (kind: LedgerEvent['kind']) => events.filter((event) => event.kind === kind);
  const [claimed, succeeded] = [of('step_claimed'), of('step_succeeded')];
  if (claimed.length + succeeded.length > 1) throw new Error('more than one claim or result in one decision');
  const step = 'fence' in input ? before.steps.find((each) => each.stepId === input.fence.stepId) : undefined;
  if (claimed.length === 1 && step?.phase !== 'dispatched') throw new Error('claimed what was not to be had');
  const holds =
    input.kind === 'report' &&
    step?.phase === 'executing' &&
    step.attempt === input.fence.attempt &&
    step.claimId === input.fence.claimId;
  if (succeeded.length === 1 && !holds) throw new Error('a result without the winning claim took effect');
}

/** Each piece of work given up on leaves one letter; nothing else but a verdict or the deadline leaves one. */
function assertLetters(before: Aggregate, events: readonly LedgerEvent[]): void {
  const letters = events.flatMap((event) => (event.kind === 'letter_written' ? [event.stepId] : []));
  if (new Set(letters).size !== letters.length) throw new Error('two letters about one attempt');
  for (const event of events) {
    if (event.kind !== 'step_failed' || !GIVEN_UP.has(event.on)) continue;
    if (event.spends && !letters.includes(event.stepId)) throw new Error(`${event.stepId} was given up on in silence`);
  }
  if (isTerminal(before.task.state) && letters.length > 0) throw new Error('a letter about a task that had ended');
}

/** A task ends once, with one event, and only a retry makes it begin again. */
function assertEnd(before: Aggregate, events: readonly LedgerEvent[], after: Aggregate): void {
  const ends = events.filter((event) => event.kind === 'task_completed' || event.kind === 'task_failed');
  const begins = events.filter((event) => event.kind === 'task_reopened');
  const open = Number(!isTerminal(before.task.state)) + begins.length;
  const expected = open - Number(!isTerminal(after.task.state));
  if (ends.length !== expected) throw new Error(`${ends.length} ends were told where there were ${expected}`);
}

const NOW = 0;
const CONTEXT = { time: new Date(NOW).toISOString(), newId: () => 'id' };
/** Changes of a step that nobody is told as an event: they are progress. */
const UNTOLD: ReadonlySet<LedgerEvent['kind']> = new Set(['step_claimed', 'step_released', 'step_reopened']);

/**
 * Who reads only the events knows every state of the task and of its steps: each change is told once, from
 * where it was to where it is.
 */
function assertTold(change: Decided['changes'][number]): void {
  const { before, after, event } = change;
  if (event.kind === 'task_accepted' || UNTOLD.has(event.kind)) return;
  const told = toOutgoing(change, CONTEXT)
    .flatMap((outgoing) =>
      outgoing.kind === 'event' && outgoing.envelope.type.includes('transitioned') ? [outgoing] : [],
    )
    .map(
      ({ envelope: { stepid, data } }) =>
        `${stepid ?? 'task'} ${JSON.stringify(data).match(/"from":"\w+","to":"\w+"/)}`,
    );
  const moved = [
    ...(before.task.state === after.task.state ? [] : [line('task', before.task.state, after.task.state)]),
    ...after.steps.flatMap((step, i) => {
      const old = before.steps[i];
      return old === undefined || old.state === step.state ? [] : [line(step.stepId, old.state, step.state)];
    }),
  ];
  for (const each of moved) if (!told.includes(each)) throw new Error(`nobody is told: ${each}`);
  if (new Set(told).size !== told.length) throw new Error(`told twice: ${told}`);
}

function line(who: string, from: string, to: string): string {
  return `${who} "from":"${from}","to":"${to}"`;
}

/** Repeated, stale, foreign and premature inputs: whatever the state, they change nothing. */
export function assertDeaf(machine: (input: LedgerInput) => Decided, state: Aggregate): void {
  for (const input of [...state.steps.flatMap((step) => noiseFor(state, step)), ...NOISE]) {
    if (input.kind === 'deadline_due' && state.task.deadline <= NOW) continue;
    const { changes, state: after } = machine(input);
    const heard = changes.filter((change) => change.event.kind !== 'refused');
    if (heard.length > 0 || after !== state)
      throw new Error(`${JSON.stringify(input)} was heard: ${heard.map((change) => change.event.kind)}`);
  }
}

const NOISE: readonly LedgerInput[] = [
  { kind: 'reconcile' },
  { kind: 'gate_due' },
  { kind: 'gate', action: 'approve', sha256: 'another' },
  { kind: 'dispatch', stepId: 'nobody' },
];

function noiseFor({ epoch, task }: Aggregate, { stepId, attempt, phase, claimId, ring }: Step): readonly LedgerInput[] {
  const fence = { epoch, tenantId: task.tenantId, taskId: task.taskId, stepId, attempt: Math.max(1, attempt) };
  const report = (claim: string, change: Partial<typeof fence> = {}): LedgerInput => ({
    kind: 'report',
    fence: { ...fence, claimId: claim, ...change },
    report: { outcome: 'succeeded', output: { stale: true }, usage: USAGE, candidates: [] },
  });
  const claim = (name: string, change: Partial<typeof fence> = {}): LedgerInput => ({
    kind: 'claim',
    worker: 'other',
    fence: { ...fence, claimId: name, ...change },
  });
  const late = [report('loser'), report(claimId ?? 'nobody', { attempt: attempt + 1 })];
  const stale =
    attempt > 1
      ? [claim(`c${attempt - 1}`, { attempt: attempt - 1 }), report(`c${attempt - 1}`, { attempt: attempt - 1 })]
      : [];
  return [
    ...[...late, ...stale, report(claimId ?? 'x', { epoch: epoch + 1 }), claim('x', { epoch: epoch + 1 })],
    // The winner's own, once more: asked again, or reported again after it was applied.
    ...(phase === 'executing' ? [claim(claimId ?? ''), claim('late')] : [report(claimId ?? 'nobody')]),
    ...(phase === 'ready' ? [] : [{ kind: 'dispatch', stepId } as const]),
    { kind: 'lease_due', stepId, attempt, claimId: claimId ?? 'x' },
    { kind: 'attempt_timeout_due', stepId, attempt: attempt - 1 },
    ...(phase === 'backing_off' ? [] : [{ kind: 'backoff_due', stepId } as const]),
    { kind: 'ring_due', stepId, attempt, ring: ring - 1, gone: true },
    { kind: 'queue_due', stepId },
    { kind: 'unsendable', stepId, attempt: attempt - 1, message: 'stale' },
  ];
}
