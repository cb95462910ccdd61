import type { MissedPolicy, OverlapPolicy } from '@cleanslate/contracts';
import { type CronRule, findDueTimes, findNextDue } from './cron.ts';

/** A run found later than this was missed: schedulers look every second, and a busy one is not a dead one. */
export const MISSED_AFTER_MS = 30_000;

export type ScheduleState = CronRule & {
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
  readonly backlog: number;
  /** The first due time not yet decided. */
  readonly nextDueAt: number | null;
  /** Due times that wait for an earlier run to end, oldest first. */
  readonly waitingRuns: readonly number[];
  /** The newest run has not ended. */
  readonly isRunning: boolean;
};

export type ScheduleDecision = {
  /** Due time of the run that starts now. */
  readonly start: number | null;
  /** End the newest run first. */
  readonly replace: boolean;
  readonly waitingRuns: readonly number[];
  readonly nextDueAt: number | null;
  /** Due times that will never run (counted up to a bound). */
  readonly skipped: number;
};

/** Counting what was skipped stops here. */
const MOST_COUNTED = 100;

/** What a schedule does at `now`: pure, so that every scheduler decides the same; at most one run starts at a time. */
export function decideSchedule(state: ScheduleState, now: number): ScheduleDecision {
  const from = state.nextDueAt;
  const passed =
    from === null || from > now ? [] : findDueTimes(state, from, now, Math.max(MOST_COUNTED, state.backlog));
  const nextDueAt = from === null || from > now ? from : findNextDue(state, now);
  const due = chooseMissed(state, passed, now);
  const given = { nextDueAt, skipped: passed.length - due.length };
  if (state.overlap === 'queue') return startOldest(state, due, given);
  const [newest] = due.slice(-1);
  if (newest === undefined) return { ...given, start: null, replace: false, waitingRuns: [] };
  if (state.overlap === 'replace') {
    const skipped = given.skipped + due.length - 1;
    return { ...given, skipped, start: newest, replace: state.isRunning, waitingRuns: [] };
  }
  // One run at a time: while the first of several is running, the others would overlap it.
  const start = state.isRunning ? null : newest;
  return {
    ...given,
    skipped: given.skipped + due.length - (start === null ? 0 : 1),
    start,
    replace: false,
    waitingRuns: [],
  };
}

type Given = Pick<ScheduleDecision, 'nextDueAt' | 'skipped'>;

function startOldest(state: ScheduleState, due: readonly number[], given: Given): ScheduleDecision {
  const line = [...state.waitingRuns, ...due];
  const start = state.isRunning ? null : (line.shift() ?? null);
  const waitingRuns = line.slice(0, state.backlog);
  const skipped = given.skipped + line.length - waitingRuns.length;
  return { ...given, start, replace: false, waitingRuns, skipped };
}

function chooseMissed({ missed, backlog }: ScheduleState, passed: readonly number[], now: number): readonly number[] {
  const newest = passed.at(-1);
  if (newest === undefined) return [];
  if (missed === 'all') return passed.slice(-backlog);
  if (missed === 'once') return [newest];
  return now - newest <= MISSED_AFTER_MS ? [newest] : [];
}
