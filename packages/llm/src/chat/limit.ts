import { AppError } from '@cleanslate/contracts';

/**
 * A request's own limit, or the default. Throws `CONFIGURATION` for anything but a plain number: compared with `NaN` or
 * `Infinity`, nothing is ever too much.
 */
export function limitOf(name: string, value: number | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new AppError('CONFIGURATION', `model: ${name} must be a whole number of at least 1, and is ${value}`);
}
