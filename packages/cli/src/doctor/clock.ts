import { type Check, fail, ok, warn } from './check.ts';

const REMEDY = 'run an NTP client on both machines (chrony, systemd-timesyncd)';

/** Due times come from the database's clock; people compare them with their own. */
export function judgeClock(name: string, otherMs: number, oursMs = Date.now()): Check {
  const difference = Math.abs(otherMs - oursMs);
  const text = `${(difference / 1_000).toFixed(difference < 1_000 ? 3 : 0)} s from this machine's`;
  if (difference > 30_000) return fail(name, text, REMEDY);
  return difference > 2_000 ? warn(name, text, REMEDY) : ok(name, text);
}
