import type { Metrics } from '@cleanslate/runtime';
import { type Database, readKnowledgeGauges, withTransaction } from '@cleanslate/store';

const EVERY_MS = 5_000;

/** Shows what is yet to be published, decided and confirmed, until it is stopped. Every replica reads the same. */
export function startGauges(database: Database, metrics: Metrics, onError: (error: unknown) => void): () => void {
  const rows = metrics.gauge('slate_knowledge_outbox_rows', 'Committed knowledge events not yet published');
  const age = metrics.gauge('slate_knowledge_outbox_age_seconds', 'Age of the oldest of them');
  const undecided = metrics.gauge('slate_candidates_undecided', 'Candidates that wait for a verdict on their task');
  const redactions = metrics.gauge('slate_redactions_open', 'Redactions that are not confirmed yet');
  const look = async () => {
    const scope = { role: 'cleanslate_maintainer', readOnly: true } as const;
    const gauges = await withTransaction(database, scope, readKnowledgeGauges);
    rows.set(gauges.outboxRows);
    age.set(gauges.outboxAgeSeconds);
    undecided.set(gauges.undecided);
    redactions.set(gauges.redactionsOpen);
  };
  void look().catch(onError);
  const timer = setInterval(() => void look().catch(onError), EVERY_MS);
  return () => clearInterval(timer);
}
