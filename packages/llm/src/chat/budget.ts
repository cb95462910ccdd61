import type { AttemptRef } from '@cleanslate/contracts';
import type { ModelUsage } from './model.ts';

/** One request that is about to be made. */
export type PlannedCall = {
  readonly model: string;
  readonly purpose: string;
  /** Whose budget it uses. Undefined: nobody's, then only the model's own limits apply. */
  readonly attempt: AttemptRef | undefined;
  /** The most it can use: prompt and longest answer. */
  readonly tokens: number;
  /** Of that many tokens; absent if no price is set. */
  readonly cost?: number;
};

/** Permission to make one request. */
export type CallLease = {
  /** Fires if the permission is lost before the request is over. */
  readonly signal: AbortSignal;
  /** Always called, once, with what was really used. It also frees the slot. Never rejects. */
  readonly settle: (usage: ModelUsage) => Promise<void>;
};

/** What all workers of a pool share: requests at once, tokens, costs. */
export type ModelBudget = {
  /** Resolves when the request may be made. Throws `MODEL_BUDGET_SPENT` with the time after which to come again. */
  readonly reserve: (call: PlannedCall, signal: AbortSignal) => Promise<CallLease>;
};

const NEVER_LOST = new AbortController().signal;

/** No limits beyond those of the server. */
export const unlimited: ModelBudget = {
  reserve: async () => ({ signal: NEVER_LOST, settle: async () => undefined }),
};
