import type { ErrorBody, JsonObject } from '@cleanslate/contracts';
import type { GateState, Step, Task } from './state.ts';

/** What a decision says happened. `on` is the trigger recorded in the ledger's transitions. */
export type LedgerEvent =
  | { readonly kind: 'task_accepted'; readonly task: Task; readonly steps: readonly Step[] }
  | { readonly kind: 'task_started' }
  | { readonly kind: 'task_validating' }
  | { readonly kind: 'task_reworked'; readonly round: number }
  | { readonly kind: 'task_completed'; readonly on: string; readonly result: unknown }
  | { readonly kind: 'task_failed'; readonly on: string; readonly error: ErrorBody }
  /** The task fails as soon as its completed steps are compensated, which must happen by `deadline`. */
  | {
      readonly kind: 'task_compensating';
      readonly on: string;
      readonly error: ErrorBody;
      readonly deadline: number;
    }
  /** `failing`: only what compensation left undone is tried again. */
  | { readonly kind: 'task_reopened'; readonly deadline: number; readonly failing: Task['failing'] }
  | { readonly kind: 'gate_opened'; readonly gate: GateState }
  | {
      readonly kind: 'gate_decided';
      readonly decision: NonNullable<GateState['decision']>;
      readonly by: NonNullable<GateState['by']>;
      readonly edited: unknown;
    }
  /** The gate was passed: work goes on. */
  | { readonly kind: 'task_resumed'; readonly on: string }
  | { readonly kind: 'step_added'; readonly step: Step }
  | { readonly kind: 'step_readied'; readonly stepId: string; readonly dueAt: number }
  | {
      readonly kind: 'step_dispatched';
      readonly stepId: string;
      readonly attempt: number;
      readonly dueAt: number;
      readonly queueExpiresAt: number;
    }
  /** `ring` unchanged: the doorbell is still in the stream. */
  | { readonly kind: 'step_rung'; readonly stepId: string; readonly ring: number; readonly dueAt: number }
  | {
      readonly kind: 'step_claimed';
      readonly stepId: string;
      readonly claimId: string;
      readonly worker: string;
      readonly dueAt: number;
      readonly timeoutAt: number;
    }
  | {
      readonly kind: 'step_succeeded';
      readonly stepId: string;
      readonly output: JsonObject;
      readonly candidates: readonly string[];
    }
  | { readonly kind: 'usage_counted'; readonly stepId: string; readonly tokens: number }
  | {
      readonly kind: 'step_released';
      readonly stepId: string;
      readonly on: 'released' | 'silent_claim';
      readonly reason: string;
      readonly dueAt: number;
    }
  | {
      readonly kind: 'step_backed_off';
      readonly stepId: string;
      readonly on: string;
      readonly error: ErrorBody;
      readonly dueAt: number;
      readonly spends: boolean;
    }
  | {
      readonly kind: 'step_failed';
      readonly stepId: string;
      readonly on: string;
      readonly error: ErrorBody;
      /** What the last attempt failed with, if `error` covers all of them. */
      readonly last?: ErrorBody;
      readonly spends: boolean;
    }
  /**
   * A piece of work was given up on; `replayOf` is the letter whose replay it was, `raw` base64 of bytes that could not
   * be read.
   */
  | {
      readonly kind: 'letter_written';
      readonly stepId: string;
      readonly error: ErrorBody;
      readonly replayOf: string | null;
      readonly raw?: string;
    }
  /** The replay of this letter ended: it succeeded, or another letter continues its history. */
  | { readonly kind: 'letter_closed'; readonly stepId: string; readonly letterId: string }
  | { readonly kind: 'step_reopened'; readonly stepId: string; readonly letterId: string | null }
  /** Nothing changed: the input was not entitled to change anything. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly detail: string;
      readonly stepId?: string;
      readonly attempt?: number;
      readonly claimId?: string;
    };
