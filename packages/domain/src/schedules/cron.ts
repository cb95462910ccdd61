import { AppError } from '@cleanslate/contracts';
import { Cron } from 'croner';

/** A cron expression in a time zone; only computes, starts nothing. */
export type CronRule = { readonly cron: string; readonly timeZone: string };

/**
 * Throws `INVALID_INPUT` for an expression or time zone that can't be read, and for a rule that never comes. Five
 * fields (six with seconds first); a time of day that a clock change skips is run after the gap, one that it repeats is
 * run once; every-so-often rules go by real time.
 */
export function checkCron(rule: CronRule): void {
  let first: Date | null;
  try {
    first = toCron(rule).nextRun(new Date(0));
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new AppError(
      'INVALID_INPUT',
      `cron "${rule.cron}" in time zone "${rule.timeZone}" can't be read: ${what}; write minute hour day month weekday, as "30 6 * * 1-5", and a zone as "Europe/Berlin"`,
    );
  }
  if (first === null)
    throw new AppError(
      'INVALID_INPUT',
      `cron "${rule.cron}" never comes: no month it names has such a day; write one that has`,
    );
}

/** The first due time after `after`; null where there is none. */
export function findNextDue(rule: CronRule, after: number): number | null {
  return toCron(rule).nextRun(new Date(after))?.getTime() ?? null;
}

/**
 * Due times from `from` to `until`, both included: the newest `most` of them, oldest first. Each costs
 * some tenths of a millisecond.
 */
export function findDueTimes(rule: CronRule, from: number, until: number, most: number): readonly number[] {
  const cron = toCron(rule);
  const found: number[] = [];
  let at = cron.nextRun(new Date(from - 1))?.getTime();
  for (; at !== undefined && at <= until; at = cron.nextRun(new Date(at))?.getTime()) {
    // Too many to walk through: the newest ones are found from the other end.
    if (found.length === most) return toTimes(cron.previousRuns(most, new Date(until + 1)));
    found.push(at);
  }
  return found;
}

function toTimes(dates: readonly Date[]): readonly number[] {
  return dates.map((date) => date.getTime()).sort((a, b) => a - b);
}

function toCron({ cron, timeZone }: CronRule): Cron {
  return new Cron(cron, { timezone: timeZone, paused: true });
}
