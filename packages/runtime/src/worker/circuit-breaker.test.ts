import { AppError, type StepReport } from '@cleanslate/contracts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BreakerBoard } from './breaker-board.ts';
import { CircuitBreaker } from './circuit-breaker.ts';

const failed = (code: string): StepReport => ({ outcome: 'failed', error: new AppError(code, 'x').toBody() });
const away = failed('DATABASE_UNAVAILABLE');
const paused: StepReport = {
  outcome: 'failed',
  error: { code: 'MODEL_UNAVAILABLE', disposition: 'pause', message: 'x' },
};
const done: StepReport = { outcome: 'succeeded', output: {}, usage: { durationMs: 1 }, candidates: [] };
const released: StepReport = { outcome: 'released', reason: 'drain' };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

type Called = Pick<CircuitBreaker, 'enter'>;
const enter = (breaker: Called) => {
  const entered = breaker.enter();
  if (!('end' in entered)) throw new Error('no pass');
  return entered;
};
const refusal = (breaker: Called) => {
  const entered = breaker.enter();
  if ('end' in entered) throw new Error('a pass');
  return entered;
};

describe('the circuit breaker of an executor', () => {
  let changes: string[];
  let breaker: CircuitBreaker;
  beforeEach(() => {
    changes = [];
    breaker = new CircuitBreaker(() => changes.push(breaker.state));
  });
  afterEach(() => breaker.stop());
  const call = (...reports: readonly (StepReport | undefined)[]) => {
    for (const report of reports) enter(breaker).end(report);
  };

  test('opens after three outages in a row; what comes meanwhile hears the outage’s own error and when to come again', () => {
    call(away, paused);
    expect(breaker.state).toBe('closed');
    call(away);
    expect(breaker.state).toBe('open');
    const { code, disposition, message, retryAfterMs } = refusal(breaker);
    expect([code, disposition]).toEqual(['DATABASE_UNAVAILABLE', 'retryable']);
    expect(message).toMatch(/^not tried/);
    expect(retryAfterMs).toBeGreaterThanOrEqual(Math.floor(breaker.retryInMs));
  });

  test('half open, lets one probe through and nobody else; its outage opens it again, for longer', () => {
    call(away, away, away);
    const first = breaker.retryInMs;
    vi.advanceTimersByTime(first + 1);
    expect(breaker.state).toBe('half-open');
    const probe = enter(breaker);
    for (let n = 0; n < 15; n++) expect(refusal(breaker).retryAfterMs).toBeGreaterThanOrEqual(1_000);
    probe.end(away);
    expect(breaker.state).toBe('open');
    vi.advanceTimersByTime(15_000);
    enter(breaker).end(done);
    expect(changes).toEqual(['open', 'half-open', 'open', 'half-open', 'closed']);
    // All of them again.
    for (let n = 0; n < 5; n++) enter(breaker);
  });

  test.each([
    ['was handed back', released],
    ['lost its claim', undefined],
    ['hung until its time was over', failed('ATTEMPT_TIMEOUT')],
  ])('a probe that %s decided nothing: the next one is the probe', (_, report) => {
    call(away, away, away);
    vi.advanceTimersByTime(15_000);
    const probe = enter(breaker);
    refusal(breaker);
    probe.end(report);
    expect(breaker.state).toBe('half-open');
    enter(breaker);
    refusal(breaker);
  });

  test('an attempt that was under way before it opened closes it when it gets through, and does not lengthen it when not', () => {
    const [early, late] = [enter(breaker), enter(breaker)];
    call(away, away, away);
    const ms = breaker.retryInMs;
    late.end(away);
    expect([breaker.state, breaker.retryInMs]).toEqual(['open', ms]);
    early.end(done);
    expect(breaker.state).toBe('closed');
  });

  test('waits longer each time, at most 15 s; two hours cost few attempts, and a success starts anew', () => {
    let attempts = 0;
    const until = Date.now() + 2 * 3_600_000;
    while (Date.now() < until) {
      if (breaker.state === 'open') {
        expect(breaker.retryInMs).toBeLessThanOrEqual(15_000);
        vi.advanceTimersByTime(breaker.retryInMs + 1);
      }
      call(away);
      attempts++;
    }
    expect(attempts).toBeLessThan(1_600);
    vi.advanceTimersByTime(15_000);
    call(done, away, away);
    expect(breaker.state).toBe('closed');
  });

  test('failures of the work itself and releases don’t open it, and a success in between starts the count anew', () => {
    for (const report of [failed('EXECUTOR_FAILED'), failed('OUTPUT_CONTRACT'), released, undefined])
      for (let n = 0; n < 5; n++) call(report);
    call(away, away, done, away, away);
    expect(changes).toEqual([]);
  });
});

describe('the breakers of a worker', () => {
  let rooms: number[];
  let board: BreakerBoard;
  beforeEach(() => {
    rooms = [];
    board = new BreakerBoard({ slots: 8, onRoom: (room) => rooms.push(room) });
  });
  afterEach(() => board.stop());
  const call = (executor: string, ...reports: readonly StepReport[]) => {
    for (const report of reports) enter({ enter: () => board.enter(executor) }).end(report);
  };

  test('of one executor in use: nothing is taken while it is open, one at a time for the probe, then all', () => {
    call('a', away, away, away);
    expect(rooms).toEqual([0]);
    vi.advanceTimersByTime(15_000);
    expect(rooms).toEqual([0, 1]);
    call('a', done);
    expect(rooms).toEqual([0, 1, 8]);
  });

  test('one that is away does not stop another that is in use, nor that one’s work', () => {
    call('b', done);
    call('a', away, away, away);
    expect(rooms).toEqual([]);
    refusal({ enter: () => board.enter('a') });
    call('b', done, done);
  });

  test('work for another one that comes among the probes makes room for all', () => {
    call('a', away, away, away);
    vi.advanceTimersByTime(15_000);
    call('b', done);
    expect(rooms).toEqual([0, 1, 8]);
    refusalOfSecond('a');
  });

  function refusalOfSecond(executor: string) {
    enter({ enter: () => board.enter(executor) });
    refusal({ enter: () => board.enter(executor) });
  }
});
