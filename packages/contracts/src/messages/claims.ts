import { z } from 'zod';
import { AttemptRef, Fence, JsonObject } from '../fence.ts';
import { ClaimId, RoleName, UtcTime, WorkerId } from '../ids.ts';
import { defineMessage } from '../message.ts';
import { Usage } from './work.ts';

/**
 * Request on `claim.<role>`: claims of one worker travel in batches. Asking again with the winning id is granted again.
 */
export const ClaimRequest = defineMessage({
  name: 'claim.request',
  version: 1,
  data: z.strictObject({ worker: WorkerId, role: RoleName, claims: z.array(Fence).min(1).max(500) }),
});
export type ClaimRequest = z.infer<typeof ClaimRequest.data>;

export const ClaimAnswer = z.strictObject({
  attempt: AttemptRef,
  claimId: ClaimId,
  /** `granted`: run. `lost` / `over`: ack the doorbell, do nothing. `busy`: ask again. */
  answer: z.enum(['granted', 'lost', 'over', 'busy']),
  leaseMs: z.int().positive().optional(),
  /** The shorter of attempt timeout and task deadline, as a duration: clocks of two machines are not compared. */
  remainingMs: z.int().optional(),
  deadline: UtcTime.optional(),
});
export type ClaimAnswer = z.infer<typeof ClaimAnswer>;

/** Reply to a claim request, given after commit. */
export const ClaimReply = defineMessage({
  name: 'claim.reply',
  version: 1,
  data: z.strictObject({ answers: z.array(ClaimAnswer) }),
});
export type ClaimReply = z.infer<typeof ClaimReply.data>;

/**
 * Request on `claim.<role>` from workers of `pure` executors: attempts that are computed already ask for their claims
 * and hand in their results. The ledger decides each claim first and applies the report only if it is granted, in the
 * same transaction. Answered after the commit by a claim reply: `granted` means that the report was applied, also when
 * it is asked again.
 */
export const ClaimWithReport = defineMessage({
  name: 'claim.with_report',
  version: 1,
  data: z.strictObject({
    worker: WorkerId,
    role: RoleName,
    finished: z
      .array(z.strictObject({ fence: Fence, output: JsonObject, usage: Usage }))
      .min(1)
      .max(500),
  }),
});
export type ClaimWithReport = z.infer<typeof ClaimWithReport.data>;

/** Request on `hb.<role>`: one per worker, naming all its claims. */
export const Heartbeat = defineMessage({
  name: 'worker.heartbeat',
  version: 1,
  data: z.strictObject({
    worker: WorkerId,
    role: RoleName,
    slots: z.int().nonnegative(),
    free: z.int().nonnegative(),
    running: z.array(Fence).max(10_000),
    /** Reported (PubAck seen), not yet known to be applied. */
    reported: z.array(Fence).max(10_000),
  }),
});
export type Heartbeat = z.infer<typeof Heartbeat.data>;

export const HeartbeatReply = defineMessage({
  name: 'worker.heartbeat.reply',
  version: 1,
  data: z.strictObject({
    leaseMs: z.int().positive(),
    /** The claim no longer holds: abort, report nothing. */
    lost: z.array(ClaimRef()),
    cancelled: z.array(ClaimRef()),
    /** Reported claims whose report was applied or found stale. */
    settled: z.array(ClaimRef()),
  }),
});
export type HeartbeatReply = z.infer<typeof HeartbeatReply.data>;

/** Core message on `abort.<role>.<workerId>`: stop this claim now (the heartbeat's answer says it again). */
export const ClaimAbort = defineMessage({
  name: 'claim.abort',
  version: 1,
  data: z.strictObject({ ...Fence.shape, reason: z.string().max(200) }),
});
export type ClaimAbort = z.infer<typeof ClaimAbort.data>;

function ClaimRef() {
  return Fence.pick({ taskId: true, stepId: true, attempt: true, claimId: true });
}
