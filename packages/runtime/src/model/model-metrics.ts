import type { ModelCall } from '@cleanslate/llm';
import type { Metrics } from '../health/metrics.ts';

/** Counts the outcomes of requests to models. */
export function countModelCalls(metrics: Metrics, role: string): (call: ModelCall) => void {
  const requests = metrics.counter('slate_model_requests_total', 'HTTP requests to models', [
    'role',
    'model',
    'outcome',
  ]);
  const tokens = metrics.counter('slate_model_tokens_total', 'Tokens that models used', ['role', 'model', 'of']);
  const costs = metrics.counter('slate_model_cost_total', 'What they cost, in the unit of the prices', [
    'role',
    'model',
  ]);
  const seconds = metrics.histogram(
    'slate_model_request_seconds',
    'How long requests to models took',
    [0.1, 0.5, 1, 2, 5, 10, 30, 60, 180, 600],
    ['role', 'model'],
  );
  return ({ model, outcome, ms, usage }) => {
    requests.inc({ role, model, outcome });
    tokens.inc({ role, model, of: 'prompt' }, usage.promptTokens);
    tokens.inc({ role, model, of: 'completion' }, usage.completionTokens);
    if (usage.cost !== undefined) costs.inc({ role, model }, usage.cost);
    seconds.observe({ role, model }, ms / 1_000);
  };
}
