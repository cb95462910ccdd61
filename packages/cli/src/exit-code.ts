import { isAppError } from '@cleanslate/contracts';

/** Scripts rely on these. */
export const EXIT = { ok: 0, taskFailed: 1, badInput: 2, cannotConnect: 3 } as const;

const UNREACHABLE = new Set(['BROKER_UNAVAILABLE', 'DATABASE_UNAVAILABLE', 'REQUEST_TIMEOUT', 'UNAUTHORIZED']);

/**
 * 3 if the platform can't be reached or refuses the credentials, 1 for faults of our own, otherwise 2: what was asked
 * can't be done.
 */
export function exitCodeOf(error: unknown): number {
  if (!isAppError(error)) return EXIT.taskFailed;
  if (UNREACHABLE.has(error.code)) return EXIT.cannotConnect;
  return error.code === 'INTERNAL' ? EXIT.taskFailed : EXIT.badInput;
}
