import type { Interval } from './interval.ts';

/** Months count from 1 and may run over: month 13 is January of the next year. */
export function monthsFrom(year: number, month: number, count: number): Interval {
  return { from: toIso(year, month), until: toIso(year, month + count) };
}

export function yearOf(year: number): Interval {
  return monthsFrom(year, 1, 12);
}

/** One day, `iso` as YYYY-MM-DD. Null if the calendar has no such day. */
export function dayOf(iso: string): Interval | null {
  const from = new Date(`${iso}T00:00:00.000Z`);
  if (Number.isNaN(from.getTime()) || from.toISOString().slice(0, 10) !== iso) return null;
  return { from: from.toISOString(), until: new Date(from.getTime() + 86_400_000).toISOString() };
}

/** The latest such month that had begun at `at`. */
export function lastMonth(month: number, at: string): Interval {
  const [year, now] = partsOf(at);
  return monthsFrom(month <= now ? year : year - 1, month, 1);
}

/** Year and month of a time in UTC. */
export function partsOf(at: string): readonly [year: number, month: number] {
  return [Number(at.slice(0, 4)), Number(at.slice(5, 7))];
}

function toIso(year: number, month: number): string {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, 1);
  return date.toISOString();
}
