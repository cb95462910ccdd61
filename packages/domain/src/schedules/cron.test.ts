import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkCron, findDueTimes, findNextDue } from './cron.ts';

const DAY = 24 * 3_600_000;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'America/Sao_Paulo'];

function times(rule: { cron: string; timeZone: string }, from: string, count: number): readonly string[] {
  const found: string[] = [];
  for (let at = Date.parse(from); found.length < count; ) {
    at = findNextDue(rule, at) ?? Number.NaN;
    found.push(new Date(at).toISOString().slice(5, 16));
  }
  return found;
}

describe('when clocks change', () => {
  test('a time of day that the change skips is run right after the gap', () => {
    const rule = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' };
    expect(times(rule, '2026-03-28T00:00:00Z', 3)).toEqual(['03-28T01:30', '03-29T01:00', '03-30T00:30']);
  });

  test('one that it repeats is run once', () => {
    const rule = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' };
    expect(times(rule, '2026-10-24T00:00:00Z', 3)).toEqual(['10-24T00:30', '10-25T00:30', '10-26T01:30']);
  });

  test('every so often goes by real time', () => {
    const rule = { cron: '*/30 * * * *', timeZone: 'Europe/Berlin' };
    const expected = ['10-25T00:30', '10-25T01:00', '10-25T01:30', '10-25T02:00'];
    expect(times(rule, '2026-10-25T00:00:00Z', 4)).toEqual(expected);
  });

  test('whatever zone and time of day: one run per local date, none doubled, none lost', () => {
    const minute = fc.integer({ min: 0, max: 59 });
    const hour = fc.integer({ min: 0, max: 23 });
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        minute,
        hour,
        fc.integer({ min: 2020, max: 2030 }),
        (timeZone, m, h, year) => {
          const rule = { cron: `${m} ${h} * * *`, timeZone };
          const localDate = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
          const from = Date.UTC(year, 0, 1);
          const due = findDueTimes(rule, from, from + 400 * DAY, 1_000);
          const dates = due.map((at) => localDate.format(at));
          expect(new Set(dates).size).toBe(dates.length);
          expect(due.length).toBeGreaterThanOrEqual(399);
        },
      ),
      { numRuns: 6 },
    );
  });

  test('looking back from the end finds the same times as going forward', () => {
    const cron = fc.constantFrom('30 2 * * *', '*/20 * * * *', '0 */3 * * *', '15 1 * * 0', '5 0-3 * * *');
    const start = fc.integer({ min: Date.UTC(2026, 2, 1), max: Date.UTC(2026, 10, 10) });
    fc.assert(
      fc.property(cron, fc.constantFrom(...ZONES), start, (expression, timeZone, from) => {
        const rule = { cron: expression, timeZone };
        const forward: number[] = [];
        for (let at = findNextDue(rule, from); at !== null && at <= from + 3 * DAY; at = findNextDue(rule, at))
          forward.push(at);
        expect(findDueTimes(rule, from + 1, from + 3 * DAY, 1_000)).toEqual(forward);
        expect(findDueTimes(rule, from + 1, from + 3 * DAY, 2)).toEqual(forward.slice(-2));
      }),
      { numRuns: 15 },
    );
  });
});

test.each([
  ['nonsense', 'UTC'],
  ['61 * * * *', 'UTC'],
  ['0 0 * * *', 'Mars/Olympus'],
])('"%s" in "%s" is refused with a remedy', (cron, timeZone) => {
  expect(() => checkCron({ cron, timeZone })).toThrow(/can't be read.*write minute hour day/);
});

test('a rule that names no day of any year is refused, one of a leap day is not', () => {
  expect(() => checkCron({ cron: '0 0 30 2 *', timeZone: 'UTC' })).toThrow(/^cron "0 0 30 2 \*" never comes: no month/);
  expect(() => checkCron({ cron: '0 0 29 2 *', timeZone: 'UTC' })).not.toThrow();
});
