import { type Executor, noopExecutor } from '@cleanslate/runtime';
import { generateExecutor } from './contract-review.ts';
import { answerExecutor } from './question-answering.ts';

/** Every executor this service runs. */
export function executors(): readonly Executor[] {
  return [generateExecutor(), answerExecutor(), noopExecutor('generator')];
}
