import type { Span, Tracer } from '../tracing/tracer.ts';
import type { Claim } from './claim.ts';
import type { StepResult } from './step-runner.ts';

/** The span of one run. What the step causes (candidates, its report) continues it. */
export function startStepSpan(tracer: Tracer, role: string, claim: Claim): Span {
  const { tenantId, taskId, stepId, attempt } = claim.fence;
  const span = tracer.start(`step ${role}`, {
    kind: 'consumer',
    parent: claim.trace['traceparent'],
    attributes: { 'slate.tenant': tenantId, 'slate.task': taskId, 'slate.step': stepId, 'slate.attempt': attempt },
  });
  if (span.traceparent !== undefined) claim.trace = { ...claim.trace, traceparent: span.traceparent };
  return span;
}

export function endStepSpan(span: Span, claim: Claim, { report, executor }: StepResult): void {
  const outcome = report?.outcome ?? claim.stopped ?? 'dropped';
  const errorCode = report?.outcome === 'failed' ? report.error.code : undefined;
  span.end({ errorCode, attributes: { 'slate.executor': executor, 'slate.outcome': outcome } });
}
