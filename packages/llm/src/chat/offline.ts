import { AppError, mismatch } from '@cleanslate/contracts';
import { type AskOptions, type ModelAnswer, type ModelProvider, type ModelRequest, NO_USAGE } from './model.ts';

/** No model, no key, no network: the rule of each request answers it, and the answer says so. */
export function offlineModel(): ModelProvider {
  return { name: 'offline', isOffline: true, promptTokens: 0, ask: byRule, runTools: byRule };
}

async function byRule<T>(request: ModelRequest<T>, { signal }: AskOptions): Promise<ModelAnswer<T>> {
  signal.throwIfAborted();
  const parsed = request.output.safeParse(await request.offline(request));
  if (!parsed.success)
    throw new AppError(
      'MODEL_BAD_ANSWER',
      `the offline rule of "${request.purpose}": ${mismatch('answer', parsed.error).message}`,
    );
  return { value: parsed.data, provider: 'offline', model: 'offline', usage: NO_USAGE };
}
