import type { Aggregate } from './state.ts';

/**
 * Why there is no budget for another round; null while there is. Summed over the rounds that count: after an operator's
 * retry the sum starts again.
 */
export function findOverspent({ plan, task, steps }: Aggregate, now: number): string | null {
  if (plan.validation === null) return null;
  const { maxTokens, maxMs, step: judge } = plan.validation;
  const counted = steps.filter((step) => step.round > task.roundBase);
  const tokens = counted.reduce((sum, step) => sum + step.tokens, 0);
  if (maxTokens !== undefined && tokens >= maxTokens)
    return `no further round: ${tokens} tokens used of ${maxTokens} for all rounds`;
  const asked = counted.filter((step) => step.planKey === judge).map((step) => step.readyAt ?? now);
  const elapsed = now - Math.min(now, ...asked);
  if (maxMs !== undefined && elapsed >= maxMs)
    return `no further round: ${elapsed} ms since the first verdict was asked for, of ${maxMs}`;
  return null;
}
