import { AppError, type ClaimWithReport, type StepReport } from '@cleanslate/contracts';
import { findForbiddenKey } from '@cleanslate/domain/ledger';

/**
 * A worker of any language may report; an agent's working crosses the bus from none of them. Throws `OUTPUT_CONTRACT`.
 */
export function refuseWorking(report: StepReport): void {
  const error = findWorking(report);
  if (error !== undefined) throw error;
}

/** What a claim that was asked for together with its result reports. */
export function toFinishedReport({ output, usage }: ClaimWithReport['finished'][number]): StepReport {
  const report: StepReport = { outcome: 'succeeded', output, usage, candidates: [] };
  const error = findWorking(report);
  return error === undefined ? report : { outcome: 'failed', error: error.toBody(), usage };
}

function findWorking(report: StepReport): AppError | undefined {
  if (report.outcome !== 'succeeded') return undefined;
  const forbidden = findForbiddenKey(report.output);
  if (forbidden === null) return undefined;
  const message = `output.${forbidden} is a forbidden name: pass structured results only`;
  return new AppError('OUTPUT_CONTRACT', message, { disposition: 'terminal' });
}
