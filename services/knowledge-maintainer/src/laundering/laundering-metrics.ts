import type { MemoryMeasures } from '@cleanslate/contracts';
import type { Metrics } from '@cleanslate/runtime';
import type { LaunderRun } from './launder.ts';

export type LaunderingMetrics = ReturnType<typeof launderingMetrics>;

/**
 * What laundering counts, whoever asked for it; the memory's measures are those of the last round over all tenants,
 * together.
 */
export function launderingMetrics(metrics: Metrics) {
  const runs = metrics.counter('slate_launderings_total', 'Runs of laundering, one for each tenant', ['asked_by']);
  const actions = metrics.counter('slate_laundering_actions_total', 'What laundering did', ['action']);
  const seconds = metrics.gauge('slate_laundering_seconds', 'How long the last round over all tenants took');
  const accuracy = metrics.gauge(
    'slate_memory_write_accuracy_ratio',
    'Versions written by agents in 30 days that nobody took back or corrected, of a sample; NaN before the first round',
  );
  const recall = metrics.gauge(
    'slate_memory_recall_hit_ratio',
    'Completed tasks whose answer cites a fact they read, of those that read some in 30 days; NaN before the first round',
  );
  accuracy.set(Number.NaN);
  recall.set(Number.NaN);
  return {
    ran: ({ report }: LaunderRun) => {
      runs.inc({ asked_by: report.askedBy });
      for (const { action } of report.actions) actions.inc({ action });
    },
    round: (tookSeconds: number, measures: readonly MemoryMeasures[]) => {
      seconds.set(tookSeconds);
      accuracy.set(pool(measures.map(({ writeAccuracy, sampled }) => [writeAccuracy, sampled])));
      recall.set(pool(measures.map(({ recallHitRate, tasks }) => [recallHitRate, tasks])));
    },
  };
}

/** Shares of several tenants as one, weighted by the size of each sample. NaN without any. */
function pool(shares: readonly (readonly [share: number | null, of: number])[]): number {
  const counted = shares.filter(([share]) => share !== null);
  const whole = counted.reduce((sum, [, of]) => sum + of, 0);
  return counted.reduce((sum, [share, of]) => sum + (share ?? 0) * of, 0) / whole;
}
