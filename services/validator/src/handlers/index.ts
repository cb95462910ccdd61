import { type Executor, noopExecutor } from '@cleanslate/runtime';
import type { Database } from '@cleanslate/store';
import { validateExecutor } from './contract-review.ts';
import { validateAnswerExecutor } from './question-answering.ts';

/** Every executor this service runs. */
export function executors(database: Database): readonly Executor[] {
  return [validateExecutor(database), validateAnswerExecutor(database), noopExecutor('validator')];
}
