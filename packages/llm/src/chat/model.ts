import type { AttemptRef } from '@cleanslate/contracts';
import type { z } from 'zod';
import type { ToolRequest } from './tool.ts';

/**
 * Text that nobody vouches for: a document, a fact, a search result. It is shown to the model as data, never as an
 * instruction.
 */
export type DataBlock = {
  /** Named in answers that cite it. */
  readonly id: string;
  readonly title?: string;
  readonly text: string;
  /** Where it comes from, for the model and for readers of the prompt. */
  readonly source?: string;
};

/** One question to a model. It holds everything the model gets: nothing is remembered between two questions. */
export type ModelRequest<T> = {
  /** Short id for metrics and errors: `plan`, `extract-clauses`. */
  readonly purpose: string;
  /** Written by the developer: becomes the system message. Never put text from elsewhere into it. */
  readonly instructions: string;
  /** Untrusted text. Rendered in delimited blocks that nothing in it can close. */
  readonly data: readonly DataBlock[];
  /** What the answer must be. Words for an enum and numbers as people write them: `modelEnum`, `modelNumber`. */
  readonly output: z.ZodType<T>;
  /** Longest answer. Default: `MODEL_MAX_OUTPUT_TOKENS`. */
  readonly maxOutputTokens?: number;
  /** The deterministic rule that answers if no model is configured; `output` checks its value like a model's. */
  readonly offline: (request: ModelRequest<NoInfer<T>>) => NoInfer<T> | Promise<NoInfer<T>>;
};

export type ModelUsage = {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** HTTP requests, including failed ones. */
  readonly requests: number;
  /** In the unit of `MODEL_INPUT_PRICE` and `MODEL_OUTPUT_PRICE`; absent if no price is set. */
  readonly cost?: number;
};

export type ModelAnswer<T> = {
  readonly value: T;
  /** `offline`: a rule answered, not a model. Say so in what you make of it. */
  readonly provider: 'offline' | 'openai';
  readonly model: string;
  readonly usage: ModelUsage;
};

export type AskOptions = {
  /** Ends the call, and any wait before it, within milliseconds. */
  readonly signal: AbortSignal;
  /**
   * Whose budget it uses, and in whose history it appears. Undefined: nobody's; then only the model's own limits apply.
   */
  readonly attempt?: AttemptRef | undefined;
  /** Called with what was used once it is known, even if the call fails in the end. */
  readonly onUsage?: (usage: ModelUsage) => void;
};

/**
 * Answers questions in a schema: a model behind an OpenAI-compatible endpoint, or, offline, the rule that each request
 * provides. Throws `AppError` with a code `MODEL_…`; its disposition says what the step should do, so let it pass.
 */
export type ModelProvider = {
  /** The model's name; `offline` if there is none. */
  readonly name: string;
  readonly isOffline: boolean;
  /** Most tokens of a prompt besides the longest answer; 0 offline. */
  readonly promptTokens: number;
  ask<const T>(request: ModelRequest<T>, options: AskOptions): Promise<ModelAnswer<T>>;
  /**
   * Like `ask`, but the model may call the request's tools before it answers. Throws `NO_PROGRESS` if that leads
   * nowhere.
   */
  runTools<const T>(request: ToolRequest<T>, options: AskOptions): Promise<ModelAnswer<T>>;
};

export const NO_USAGE: ModelUsage = Object.freeze({ promptTokens: 0, completionTokens: 0, requests: 0 });

export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  const cost = a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) };
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    requests: a.requests + b.requests,
    ...cost,
  };
}
