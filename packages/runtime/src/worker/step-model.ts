import { AppError, type AttemptRef } from '@cleanslate/contracts';
import {
  type AskOptions,
  addUsage,
  type ModelAnswer,
  type ModelProvider,
  type ModelRequest,
  type ModelUsage,
  NO_USAGE,
  type ToolRequest,
} from '@cleanslate/llm';

/**
 * A model as one step sees it: its calls end with the step's signal, count against its tenant, and appear in its
 * report.
 */
export type StepModel = Pick<ModelProvider, 'name' | 'isOffline' | 'promptTokens'> & {
  /**
   * Throws `AppError` with a code `MODEL_…`, or the signal's reason. Let it pass: its disposition decides about the
   * attempt.
   */
  readonly ask: <const T>(request: ModelRequest<T>) => Promise<ModelAnswer<T>>;
  /** Like `ask`, but the model may call the request's tools before it answers. */
  readonly runTools: <const T>(request: ToolRequest<T>) => Promise<ModelAnswer<T>>;
};

export type OpenModel = {
  readonly model: StepModel;
  /** All calls so far, including those that failed. */
  readonly usage: () => ModelUsage;
};

export function openStepModel(
  provider: ModelProvider,
  step: { readonly signal: AbortSignal; readonly attempt: AttemptRef; readonly pure: boolean },
): OpenModel {
  let used = NO_USAGE;
  const onUsage = (usage: ModelUsage) => {
    used = addUsage(used, usage);
  };
  const asked = (): AskOptions => {
    if (!step.pure) return { signal: step.signal, attempt: step.attempt, onUsage };
    // Its calls cost money, and it may run twice.
    throw new AppError('OUTPUT_CONTRACT', 'a pure executor has no use for ctx.model: define it without `pure: true`');
  };
  const { name, isOffline, promptTokens } = provider;
  const model: StepModel = {
    name,
    isOffline,
    promptTokens,
    ask: async (request) => await provider.ask(request, asked()),
    runTools: async (request) => await provider.runTools(request, asked()),
  };
  return { model, usage: () => used };
}
