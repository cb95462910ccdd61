import { checkJson } from './check-json.ts';
import { AppError } from './errors.ts';
import { AttemptRef } from './fence.ts';

/**
 * NATS headers of a doorbell. A claim is asked for from subject and headers, before the body is parsed, so that a body
 * nobody can read still ends as the failure of one attempt. No name ends with the server's own message-id header:
 * servers have deduplicated on that suffix.
 */
export const HEADERS = {
  tenant: 'Cs-Tenant',
  task: 'Cs-Task',
  step: 'Cs-Step',
  attempt: 'Cs-Attempt',
  ring: 'Cs-Ring',
  epoch: 'Cs-Epoch',
  /** Lineage of a replay: id of the dead letter. */
  replayOf: 'Cs-Replay-Of',
  /** For messages that are repeated until answered: equal in all repetitions, so that they become one letter. */
  repeats: 'Cs-Repeats',
} as const;

/** Of a message that rings for no attempt. */
type OtherHeader = typeof HEADERS.replayOf | typeof HEADERS.repeats;

export function toAttemptHeaders(attempt: AttemptRef, ring: number): Record<string, string> {
  return {
    'Cs-Tenant': attempt.tenantId,
    'Cs-Task': attempt.taskId,
    'Cs-Step': attempt.stepId,
    'Cs-Attempt': String(attempt.attempt),
    'Cs-Ring': String(ring),
    'Cs-Epoch': String(attempt.epoch),
  } satisfies Record<Exclude<(typeof HEADERS)[keyof typeof HEADERS], OtherHeader>, string>;
}

/**
 * The attempt a doorbell rings for. Throws `SCHEMA_MISMATCH` if headers are missing, `TENANT_MISMATCH` if they disagree
 * with the subject.
 */
export function fromAttemptHeaders(
  get: (name: string) => string,
  subjectIds: { tenantId: string; taskId?: string },
): AttemptRef {
  const parsed = checkJson(AttemptRef, {
    epoch: toCount(get(HEADERS.epoch)),
    tenantId: get(HEADERS.tenant),
    taskId: get(HEADERS.task),
    stepId: get(HEADERS.step),
    attempt: toCount(get(HEADERS.attempt)),
  });
  if (!parsed.success)
    throw new AppError('SCHEMA_MISMATCH', `doorbell headers ${Object.values(HEADERS).join(', ')} name no attempt`);
  const attempt = parsed.data;
  if (attempt.tenantId !== subjectIds.tenantId || attempt.taskId !== subjectIds.taskId) {
    throw new AppError('TENANT_MISMATCH', 'doorbell headers and subject name different tenants or tasks');
  }
  return attempt;
}

/** Digits only: `Number` would also accept `0x1`, ` 1 ` and `1e0`, and one attempt would have many names. */
function toCount(text: string): number {
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : Number.NaN;
}
