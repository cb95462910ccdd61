import { MAX_DEADLINE_MS } from '@cleanslate/contracts';
import { inputError } from '../input-error.ts';

const MIN_DEADLINE_MS = 100;
const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90s`, `10m`, `2h`, `1d`, `500ms` → milliseconds. */
export function parseDuration(text: string, where: string): number {
  const [, amount, unit] = /^([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined) {
    throw inputError({
      what: `"${text}" is no duration`,
      where,
      remedy: 'write a number and a unit: 90s, 10m, 2h, 1d',
    });
  }
  return Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
}

/** Like `parseDuration`, within the limits of a deadline. */
export function parseDeadline(text: string, where: string): number {
  const ms = parseDuration(text, where);
  if (ms >= MIN_DEADLINE_MS && ms <= MAX_DEADLINE_MS) return ms;
  const days = MAX_DEADLINE_MS / UNITS.d;
  throw inputError({
    what: `"${text}" is no deadline that can be kept`,
    where,
    remedy: `write ${MIN_DEADLINE_MS}ms to ${days}d`,
  });
}

/** For people: `0.4 s`, `12 s`, `3 min`, `2 h`. */
export function formatDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
