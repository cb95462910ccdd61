import { type Executor, noopExecutor } from '@cleanslate/runtime';
import { analyzeExecutor } from './contract-review.ts';
import { analyzeAnswersExecutor } from './question-answering.ts';

/** Every executor this service runs. */
export function executors(): readonly Executor[] {
  return [analyzeExecutor(), analyzeAnswersExecutor(), noopExecutor('analyzer')];
}
