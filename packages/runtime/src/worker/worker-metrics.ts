import type { Metrics } from '../health/metrics.ts';

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

export function createWorkerMetrics(metrics: Metrics) {
  return {
    attempts: metrics.counter('slate_attempts_total', 'Attempts that ended here', ['role', 'outcome']),
    claims: metrics.counter('slate_claim_answers_total', 'What the ledger answered to claims', ['role', 'answer']),
    duration: metrics.histogram(
      'slate_attempt_seconds',
      'How long attempts ran',
      [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60, 300, 1_800],
      ['role'],
    ),
    slots: metrics.gauge('slate_worker_slots', 'Slots of this worker', ['role', 'state']),
    claimFailures: metrics.counter('slate_claim_failures_total', 'Claim requests without a usable answer', ['role']),
    heartbeatFailures: metrics.counter('slate_heartbeat_failures_total', 'Heartbeats without answer', ['role']),
    duplicateDoorbells: metrics.counter('slate_duplicate_doorbells_total', 'Doorbells for work in hand', ['role']),
    deadLetters: metrics.counter('slate_dead_letters_total', 'Commands of no attempt put aside', ['role', 'stored']),
    publishRetries: metrics.counter('slate_publish_retries_total', 'Publishes sent again', ['stream']),
    repeatedReports: metrics.counter('slate_reports_repeated_total', 'Stored reports said once more', ['role']),
    abandoned: metrics.counter('slate_runs_abandoned_total', 'Executors that ignored their signal', ['role']),
    consumerReady: metrics.gauge('slate_consumer_ready', '1 while the durable serves this worker', ['durable']),
  };
}
