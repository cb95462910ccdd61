import type { Fence, JsonObject, StepReport } from '@cleanslate/contracts';

/** What can happen to an existing task. Each is idempotent: a second delivery changes nothing. */
/** `role`, if given, is the one the sender's credential allows: it may not act on a step of another role. */
export type LedgerInput =
  | { readonly kind: 'dispatch'; readonly stepId: string }
  | { readonly kind: 'claim'; readonly fence: Fence; readonly worker: string; readonly role?: string }
  | { readonly kind: 'report'; readonly fence: Fence; readonly report: StepReport; readonly role?: string }
  | { readonly kind: 'lease_due'; readonly stepId: string; readonly attempt: number; readonly claimId: string }
  | { readonly kind: 'attempt_timeout_due'; readonly stepId: string; readonly attempt: number }
  | { readonly kind: 'backoff_due'; readonly stepId: string }
  | { readonly kind: 'queue_due'; readonly stepId: string }
  /** The doorbell's message was looked up in the stream: `gone` if it is no longer there. */
  | {
      readonly kind: 'ring_due';
      readonly stepId: string;
      readonly attempt: number;
      readonly ring: number;
      readonly gone: boolean;
    }
  /** The broker refuses the doorbell for good: it is larger than a message may be. */
  | { readonly kind: 'unsendable'; readonly stepId: string; readonly attempt: number; readonly message: string }
  | { readonly kind: 'deadline_due' }
  | { readonly kind: 'cancel'; readonly reason: string }
  /**
   * An operator's retry; `letter` if it replays a dead letter. The deadline is set anew: `deadlineMs`, or the original
   * duration.
   */
  | {
      readonly kind: 'retry';
      readonly letter: { readonly letterId: string; readonly stepId: string } | null;
      readonly deadlineMs?: number;
    }
  /** A person's decision about the result with exactly this hash. */
  | { readonly kind: 'gate'; readonly action: 'approve'; readonly sha256: string }
  | { readonly kind: 'gate'; readonly action: 'reject'; readonly sha256: string; readonly reason: string }
  | { readonly kind: 'gate'; readonly action: 'edit'; readonly sha256: string; readonly result: JsonObject }
  | { readonly kind: 'gate_due' }
  /** The reconciler found that nothing moves the task. */
  | { readonly kind: 'reconcile' };
