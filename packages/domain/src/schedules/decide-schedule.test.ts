import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideSchedule, MISSED_AFTER_MS, type ScheduleState } from './decide-schedule.ts';

const HOUR = 3_600_000;
const NOON = Date.parse('2026-03-02T12:00:00Z');

function hourly(more: Partial<ScheduleState> = {}): ScheduleState {
  return {
    cron: '0 * * * *',
    timeZone: 'UTC',
    overlap: 'skip',
    missed: 'once',
    backlog: 3,
    nextDueAt: NOON,
    waitingRuns: [],
    isRunning: false,
    ...more,
  };
}

/** The hours, counted from noon, that start and wait. */
function decided(state: ScheduleState, now: number) {
  const { start, waitingRuns, nextDueAt, ...rest } = decideSchedule(state, now);
  const hour = (at: number) => (at - NOON) / HOUR;
  return {
    ...rest,
    start: start === null ? null : hour(start),
    waits: waitingRuns.map(hour),
    next: nextDueAt === null ? null : hour(nextDueAt),
  };
}

describe('in time', () => {
  test('nothing before the due time; at it one run, and the next time is set', () => {
    expect(decided(hourly(), NOON - 1)).toMatchObject({ start: null, next: 0, skipped: 0 });
    expect(decided(hourly(), NOON)).toEqual({ start: 0, waits: [], next: 1, skipped: 0, replace: false });
  });

  test('what overlaps is left out, queued up to the backlog, or takes the place of the running one', () => {
    const isRunning = true;
    expect(decided(hourly({ isRunning }), NOON)).toMatchObject({ start: null, waits: [], skipped: 1, replace: false });
    const queue = hourly({ isRunning, overlap: 'queue' });
    expect(decided(queue, NOON)).toMatchObject({ start: null, waits: [0], skipped: 0 });
    const full = { ...queue, waitingRuns: [-3, -2, -1].map((n) => NOON + n * HOUR) };
    expect(decided(full, NOON)).toMatchObject({ start: null, waits: [-3, -2, -1], skipped: 1 });
    expect(decided({ ...full, isRunning: false }, NOON - 1)).toMatchObject({ start: -3, waits: [-2, -1], next: 0 });
    expect(decided(hourly({ isRunning, overlap: 'replace' }), NOON)).toMatchObject({ start: 0, replace: true });
  });
});

describe('missed', () => {
  const late = NOON + 5 * HOUR + MISSED_AFTER_MS + 1;

  test('skip: none of those that passed; one found in time runs', () => {
    expect(decided(hourly({ missed: 'skip' }), late)).toMatchObject({ start: null, next: 6, skipped: 6 });
    expect(decided(hourly({ missed: 'skip' }), NOON + 5 * HOUR)).toMatchObject({ start: 5, next: 6, skipped: 5 });
  });

  test('once: the newest stands for all', () => {
    expect(decided(hourly(), late)).toMatchObject({ start: 5, waits: [], next: 6, skipped: 5 });
  });

  test('all: one after the other, as many as the backlog holds', () => {
    const all = hourly({ missed: 'all', overlap: 'queue' });
    expect(decided(all, late)).toMatchObject({ start: 3, waits: [4, 5], next: 6, skipped: 3 });
  });

  test('a year of seconds is decided at once', () => {
    const state = hourly({ cron: '* * * * * *', missed: 'all', overlap: 'queue' });
    const { waitingRuns, start } = decideSchedule(state, NOON + 365 * 24 * HOUR);
    expect([start, ...waitingRuns]).toHaveLength(3);
  });
});

test('whatever the policies: no due time runs twice, none is forgotten, at most one starts at a time, never before its time', () => {
  const policies = fc.record({
    overlap: fc.constantFrom('skip', 'queue', 'replace'),
    missed: fc.constantFrom('skip', 'once', 'all'),
    backlog: fc.integer({ min: 1, max: 5 }),
  });
  const looks = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 * HOUR }), fc.boolean()), { maxLength: 20 });
  fc.assert(
    fc.property(policies, looks, (policy, steps) => {
      let state = hourly(policy);
      let now = NOON - HOUR;
      let skipped = 0;
      const started: number[] = [];
      for (const [pause, ends] of steps) {
        now += pause;
        const decision = decideSchedule({ ...state, isRunning: state.isRunning && !ends }, now);
        if (decision.start !== null) {
          expect(decision.start).toBeLessThanOrEqual(now);
          expect(!state.isRunning || ends || decision.replace).toBe(true);
          started.push(decision.start);
        }
        skipped += decision.skipped;
        const { waitingRuns, nextDueAt } = decision;
        state = { ...state, waitingRuns, nextDueAt, isRunning: decision.start !== null || (state.isRunning && !ends) };
        expect(waitingRuns.length).toBeLessThanOrEqual(policy.backlog);
      }
      expect([...started, ...state.waitingRuns]).toEqual(
        [...new Set([...started, ...state.waitingRuns])].sort((a, b) => a - b),
      );
      const passed = now < NOON ? 0 : Math.floor((now - NOON) / HOUR) + 1;
      expect(started.length + state.waitingRuns.length + skipped).toBe(passed);
    }),
    { numRuns: 30 },
  );
});
