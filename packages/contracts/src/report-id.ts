import { Fence } from './fence.ts';

/**
 * `Nats-Msg-Id` of a report: one statement of how this claim ended. Published again it is the same message; if the
 * stream lost the first `saying`, another one must not be taken for it.
 */
export function toReportId({ epoch, tenantId, taskId, stepId, attempt, claimId }: Fence, saying = 1): string {
  return `report${saying === 1 ? '' : `~${saying}`}:${epoch}:${tenantId}:${taskId}:${stepId}:${attempt}:${claimId}`;
}

/** The attempt and claim that a report's message id names: all that is known of one whose body nobody can read. */
export function parseReportId(id: string): Fence | undefined {
  const [, epoch, tenantId, taskId, stepId, attempt, claimId] =
    /^report(?:~[0-9]{1,15})?:([0-9]{1,15}):([^:]+):([^:]+):([^:]+):([0-9]{1,9}):(.+)$/.exec(id) ?? [];
  const parsed = Fence.safeParse({
    epoch: Number(epoch),
    tenantId,
    taskId,
    stepId,
    attempt: Number(attempt),
    claimId,
  });
  return parsed.success ? parsed.data : undefined;
}
