import { AnyTime } from '@cleanslate/contracts';
import { inputError } from '../input-error.ts';

/**
 * A date, or a time with its zone; anything less would mean another moment on another machine. `orElse`: what else is
 * accepted here.
 */
export function parseTime(text: string, where: string, orElse = ''): string {
  if (AnyTime.safeParse(text).success) return text;
  const remedy = `write ${orElse}a date (2024-07-01, midnight UTC) or a time with its zone (2024-07-01T09:00:00+02:00), from the year 1 to 9999 in UTC`;
  throw inputError({ what: `"${text}" is no time`, where, remedy });
}
