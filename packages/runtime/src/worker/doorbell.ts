import type { PulledMessage } from '@cleanslate/bus';
import {
  AppError,
  type AttemptRef,
  decodeFromService,
  fromAttemptHeaders,
  parseSubject,
  StepRun,
} from '@cleanslate/contracts';

/** Trace context crosses every hop in headers, never in a body. */
const TRACE_HEADERS = ['traceparent', 'tracestate'];

/**
 * The attempt a doorbell rings for, from subject and headers alone: the body may be unreadable. Throws
 * `SCHEMA_MISMATCH`, `TENANT_MISMATCH`.
 */
export function readAttempt(message: PulledMessage, role: string): AttemptRef {
  const ids = parseSubject(message.subject);
  if (ids?.taskId === undefined || ids.role !== role) {
    throw new AppError('SCHEMA_MISMATCH', `subject ${message.subject} is no command for role ${role}`);
  }
  return fromAttemptHeaders((name) => message.headers.get(name), { tenantId: ids.tenantId, taskId: ids.taskId });
}

export function readTrace(message: PulledMessage): Record<string, string> {
  const trace: Record<string, string> = {};
  for (const name of TRACE_HEADERS) {
    const value = message.headers.get(name);
    if (value !== '') trace[name] = value;
  }
  return trace;
}

/** Throws what `decodeFromService` throws, and `TENANT_MISMATCH` if the body names another attempt than its subject. */
export function readCommand(body: Uint8Array, attempt: AttemptRef): StepRun {
  const { envelope } = decodeFromService([StepRun], body);
  const { tenantid, taskid, stepid } = envelope;
  const sameTask = (taskid ?? attempt.taskId) === attempt.taskId && (stepid ?? attempt.stepId) === attempt.stepId;
  if (tenantid !== attempt.tenantId || !sameTask) {
    throw new AppError('TENANT_MISMATCH', 'envelope and headers name different tenants, tasks or steps');
  }
  return envelope.data;
}
