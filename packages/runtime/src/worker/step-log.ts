import type { Logger } from '../log/logger.ts';
import type { Claim } from './claim.ts';
import type { StepResult } from './step-runner.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

/** Logs and counts how one attempt ended. */
export function logStep(
  logger: Logger,
  metrics: WorkerMetrics,
  role: string,
  claim: Claim,
  { report, executor, durationMs }: StepResult,
): void {
  const { taskId: task, stepId: step, attempt, tenantId: tenant } = claim.fence;
  const outcome = report?.outcome ?? claim.stopped ?? 'dropped';
  metrics.attempts.inc({ role, outcome });
  metrics.duration.observe({ role }, durationMs / 1_000);
  const line = { task, step, attempt, tenant, executor, outcome, durationMs, ...claim.trace };
  if (report?.outcome === 'failed') logger.warn({ ...line, err: report.error }, 'step');
  else logger.info(report?.outcome === 'released' ? { ...line, reason: report.reason } : line, 'step');
}
