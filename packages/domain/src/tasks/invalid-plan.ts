import { AppError } from '@cleanslate/contracts';

export function invalid(message: string): AppError {
  return new AppError('PLAN_INVALID', message);
}
