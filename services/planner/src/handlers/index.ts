import type { Executor } from '@cleanslate/runtime';
import { planExecutor } from './question-answering.ts';

/** Every executor this service runs. */
export function executors(): readonly Executor[] {
  return [planExecutor()];
}
