import {
  AppError,
  ClaimAbort,
  decodeMessage,
  type Envelope,
  fromAttemptHeaders,
  parseSubject,
  StepRun,
  StepTransitioned,
  SubmitRefused,
  TaskAccepted,
  TaskTransitioned,
  typeOf,
} from '@cleanslate/contracts';
import { CloudEvent, HTTP } from 'cloudevents';
import { describe, expect, test } from 'vitest';
import { chain, diamond, errorOf, given, judged, type Story, verdictOf } from './testing.ts';
import {
  findRung,
  type Outgoing,
  type OutgoingCommand,
  toDoorbell,
  toDuplicateAccepted,
  toOutgoing,
  toRefused,
} from './to-outgoing.ts';

const MESSAGES = [ClaimAbort, StepRun, StepTransitioned, SubmitRefused, TaskAccepted, TaskTransitioned];

function contextAt(now: number) {
  let next = 0;
  return { time: new Date(now).toISOString(), newId: () => `id-${next++}` };
}

/** What leaves the ledger with the story's last input; each message is checked as it is read. */
function sent(story: Story): readonly Outgoing[] {
  const context = contextAt(story.now);
  return story.changes.flatMap((change) => toOutgoing(change, context)).map(checked);
}

/** A message must be readable by our own decoder and by the CloudEvents project's. */
function checked<O extends Pick<Outgoing, 'envelope'>>(outgoing: O): O {
  const body = JSON.stringify(outgoing.envelope);
  const { envelope } = decodeMessage(MESSAGES, new TextEncoder().encode(body));
  expect(envelope).toEqual(JSON.parse(body));
  const definition = MESSAGES.find((message) => typeOf(message) === envelope.type);
  expect(envelope.minreader).toBe(definition?.minReader === definition?.version ? undefined : definition?.minReader);
  const event = HTTP.toEvent({ headers: { 'content-type': 'application/cloudevents+json' }, body });
  expect(event).toBeInstanceOf(CloudEvent);
  expect(event instanceof CloudEvent && event.validate()).toBe(true);
  expect(event).toMatchObject({ id: envelope.id, type: envelope.type, tenantid: 'acme', data: envelope.data });
  return outgoing;
}

function brief({ kind, envelope }: Outgoing): string {
  const { from, to, on } = (envelope.data ?? {}) as { from?: string; to?: string; on?: string };
  const about = envelope.stepid === undefined ? '' : ` ${envelope.stepid}`;
  return `${kind} ${envelope.type}${about}${to === undefined ? '' : `: ${from} → ${to} on ${on}`}`;
}

/** The doorbells that ring with the story's last input. */
function rung(story: Story): readonly OutgoingCommand[] {
  const rings = story.changes.flatMap((change) => {
    const step = findRung(change);
    return step === undefined ? [] : toDoorbell(change.after, step.stepId, contextAt(story.now));
  });
  return rings.map(checked);
}

const dataOf = (envelope: Envelope | undefined) => envelope?.data as Record<string, unknown>;

describe('events', () => {
  test('answer a submit, naming it as their cause', () => {
    const accepted = given(chain('a'));
    const [event] = sent(accepted);
    expect(sent(accepted).map(brief)).toEqual(['event task.accepted.v1']);
    expect(event?.envelope).toMatchObject({ causationid: 'submit-1', taskid: 'task-1', epoch: 1 });
    expect(dataOf(event?.envelope)).toMatchObject({ duplicate: false, state: 'pending' });
  });

  test('answer a repeated submit with where the task is now', () => {
    const running = given(chain('a')).start('a');
    const again = checked(toDuplicateAccepted(running.state, 'submit-2', contextAt(running.now)));
    expect(again.envelope.causationid).toBe('submit-2');
    expect(dataOf(again.envelope)).toMatchObject({ duplicate: true, state: 'executing' });
  });

  test('refuse a submit', () => {
    const error = new AppError('UNKNOWN_WORKFLOW', 'no workflow "x"').toBody();
    const refused = checked(toRefused(1, 'acme', 'invalid', 'submit-3', error, contextAt(0)));
    expect(refused).toMatchObject({ kind: 'event', taskId: 'invalid', envelope: { causationid: 'submit-3' } });
  });

  test('tell each change of a task through two rounds, in order', () => {
    let story = given(judged());
    const told = [...sent(story).map(brief)];
    const then = (next: Story) => {
      story = next;
      told.push(
        ...sent(story)
          .map(brief)
          .filter((line) => line.includes(' task.')),
      );
    };
    then(story.dispatch('work'));
    then(story.claim('work'));
    then(story.succeed('work', { n: 1 }));
    then(story.dispatch('check'));
    then(story.claim('check'));
    then(story.succeed('check', verdictOf('rework', 'x')));
    for (const stepId of ['work#2', 'check#2']) {
      then(story.dispatch(stepId));
      then(story.claim(stepId));
      then(story.succeed(stepId, stepId === 'work#2' ? { n: 2 } : verdictOf('pass')));
    }
    expect(told).toEqual([
      'event task.accepted.v1',
      'event task.transitioned.v1: pending → executing on first_step_dispatched',
      'event task.transitioned.v1: executing → awaiting_validation on validation_asked',
      'event task.transitioned.v1: awaiting_validation → executing on verdict_rework',
      'event task.transitioned.v1: executing → awaiting_validation on validation_asked',
      'event task.transitioned.v1: awaiting_validation → completed on verdict_pass',
    ]);
    expect(dataOf(sent(story).at(-1)?.envelope)).toMatchObject({ result: { n: 2 }, round: 2 });
  });

  test('tell of a back-off when the next attempt is due', () => {
    const failed = given(chain('a')).start('a').fail('a');
    const [event] = sent(failed);
    expect(sent(failed).map(brief)).toEqual(['event step.transitioned.v1 a: executing → pending on report_failed']);
    expect(event?.envelope).toMatchObject({ attempt: 1, claimid: 'claim-1' });
    expect(dataOf(event?.envelope)).toMatchObject({
      spent: 1,
      error: { code: 'EXECUTOR_FAILED' },
      dueAt: new Date(failed.step('a').dueAt ?? 0).toISOString(),
    });
  });

  test('tell of a step that was never dispatched without an attempt', () => {
    const cancelled = given(chain('a', 'b')).when({ kind: 'cancel', reason: 'x'.repeat(500) });
    expect(sent(cancelled).map(brief)).toEqual([
      'event step.transitioned.v1 a: pending → failed on cancelled',
      'event step.transitioned.v1 b: pending → failed on cancelled',
      'event task.transitioned.v1: pending → failed on cancelled',
    ]);
    expect(JSON.stringify(sent(cancelled)[0]?.envelope)).not.toContain('"attempt"');
    expect(dataOf(sent(cancelled)[2]?.envelope)).toMatchObject({ error: { code: 'CANCELLED' } });
  });

  test('say nothing where nothing ended: claims, releases, readied steps, refusals', () => {
    const running = given(chain('a')).start('a');
    expect(sent(running)).toEqual([]);
    expect(sent(running.report('a', { outcome: 'released', reason: 'drain' }))).toEqual([]);
    expect(sent(running.report('a', { outcome: 'released', reason: 'drain' }, { claimId: 'other' }))).toEqual([]);
  });
});

describe('doorbells', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const story = given(judged(), { input: { n: 1 }, traceparent }).run('work', { n: 1 });

  test('carry the input that the plan names, and are addressed to role, tenant and task', () => {
    const [doorbell] = rung(story.dispatch('check'));
    expect(doorbell?.subject).toBe('cmd.work.validator.acme.task-1');
    expect(dataOf(doorbell?.envelope)).toEqual({
      workflow: 'test',
      executor: 'test/check',
      input: { work: { n: 1 } },
      pin: story.state.task.pin,
      round: 1,
      idempotencyKey: '1/acme/task-1/check',
    });
  });

  test('name attempt, ring and trace in their headers, so that a claim needs no body', () => {
    const [doorbell] = rung(story.dispatch('check'));
    const headers = new Map(Object.entries(doorbell?.headers ?? {}));
    const ids = parseSubject(doorbell?.subject ?? '');
    expect(ids).toBeDefined();
    if (ids === undefined) return;
    const ref = { epoch: 1, tenantId: 'acme', taskId: 'task-1', stepId: 'check', attempt: 1 };
    expect(fromAttemptHeaders((name) => headers.get(name) ?? '', ids)).toEqual(ref);
    expect(headers.get('traceparent')).toBe(traceparent);
    expect(headers.has('Cs-Replay-Of')).toBe(false);
  });

  test('have a message id per attempt and ring: a re-publish dedupes, a new saying never does', () => {
    const first = story.dispatch('check');
    const ring = { kind: 'ring_due', stepId: 'check', attempt: 1, ring: 1 } as const;
    const vanished = first.later(30_000).when({ ...ring, gone: true });
    const again = first.claim('check').report('check', { outcome: 'released', reason: 'drain' }).dispatch('check');
    const ids = [first, vanished, again].map((each) => rung(each)[0]?.messageId);
    const task = `1.acme.task-1.${first.state.task.createdAt}`;
    expect(ids).toEqual([`${task}.check.1.1`, `${task}.check.1.2`, `${task}.check.2.1`]);
    expect(toDoorbell(first.state, 'check', contextAt(0))[0]?.messageId).toBe(ids[0]);
    expect(rung(first.later(30_000).when({ ...ring, gone: false }))).toEqual([]);
    const { state } = first;
    const namesake = { ...state, task: { ...state.task, createdAt: state.task.createdAt + 1 } };
    expect(ids).not.toContain(toDoorbell(namesake, 'check', contextAt(0))[0]?.messageId);
  });

  test('keep the idempotency key over attempts; another round has another', () => {
    const keyOf = (each: Story) => dataOf(rung(each)[0]?.envelope)['idempotencyKey'];
    const first = story.dispatch('check');
    const again = first.claim('check').report('check', { outcome: 'released', reason: 'drain' }).dispatch('check');
    expect(keyOf(again)).toBe(keyOf(first));
    const second = first.claim('check').succeed('check', verdictOf('rework', 'x')).run('work#2', { n: 2 });
    expect(keyOf(second.dispatch('check#2'))).toBe('1/acme/task-1/check#2');
  });

  test('of a replay name the letter they come from', () => {
    const failed = given(chain('a')).start('a').fail('a', errorOf('terminal'));
    const replayed = failed.when({ kind: 'retry', letter: { letterId: 'letter-1', stepId: 'a' } }).dispatch('a');
    expect(rung(replayed)[0]).toMatchObject({ attempt: 2, headers: { 'Cs-Replay-Of': 'letter-1' } });
  });

  test('do not exist for a step nobody knows', () => {
    expect(toDoorbell(story.state, 'nobody', contextAt(0))).toEqual([]);
  });
});

describe('aborts', () => {
  const aborts = (story: Story) => sent(story).filter((message) => message.kind === 'abort');
  const running = given(chain('a')).start('a');

  test.each([
    ['cancelled', running.when({ kind: 'cancel', reason: '' })],
    ['deadline', running.later(3_600_000).when({ kind: 'deadline_due' })],
    ['attempt_timeout', running.later(60_000).when({ kind: 'attempt_timeout_due', stepId: 'a', attempt: 1 })],
    [
      'lease_expired',
      running.beat('a').later(30_000).when({ kind: 'lease_due', stepId: 'a', attempt: 1, claimId: 'claim-1' }),
    ],
    ['silent_claim', running.later(30_000).when({ kind: 'lease_due', stepId: 'a', attempt: 1, claimId: 'claim-1' })],
  ])('reach the worker whose claim was taken: %s', (reason, story) => {
    expect(aborts(story)).toHaveLength(1);
    const [abort] = aborts(story);
    expect(abort?.kind === 'abort' && abort.subject).toBe('abort.analyzer.w1');
    expect(dataOf(abort?.envelope)).toEqual({ ...running.fence('a'), reason });
  });

  test('reach the workers of branches that a failing one made useless', () => {
    const both = given(diamond()).run('fork').start('left').start('right');
    const failed = both.fail('left', errorOf('terminal'));
    expect(aborts(failed).map((abort) => abort.envelope.stepid)).toEqual(['right']);
  });

  test('go to nobody who ended the attempt itself, and to nobody who has none', () => {
    expect(aborts(running.succeed('a'))).toEqual([]);
    expect(aborts(running.fail('a', errorOf('terminal')))).toEqual([]);
    expect(aborts(running.report('a', { outcome: 'released', reason: 'drain' }))).toEqual([]);
    expect(aborts(given(chain('a')).dispatch('a').when({ kind: 'cancel', reason: '' }))).toEqual([]);
  });
});
