import {
  AppError,
  type AttemptRef,
  type Candidate,
  type DocumentRef,
  ExecutorName,
  type JsonObject,
  mismatch,
  type Pin,
  RoleName,
} from '@cleanslate/contracts';
import type { ExecutorContract } from '@cleanslate/domain';
import type { z } from 'zod';
import type { Logger } from '../log/logger.ts';
import type { BuiltContext, ContextOptions } from '../memory/build-context.ts';
import type { SessionOptions, StepSession } from '../memory/session.ts';
import type { StepModel } from '../worker/step-model.ts';
import type { CleanContract } from './clean-schema.ts';
import { findEmptied } from './find-emptied.ts';
import { findForbiddenName, findOpenKeys, toStateContract } from './state-contract.ts';

/** Everything an executor gets; nothing else crosses from one step to the next. */
export type ExecutorContext<I> = StepContext & { readonly input: I };

export type StepContext = {
  readonly attempt: AttemptRef;
  /** Validation round, from 1. */
  readonly round: number;
  readonly pin: Pin;
  readonly tenantId: string;
  readonly taskId: string;
  readonly workflow: string;
  /**
   * Fires on cancel, timeout, a lost claim and at the end of the grace period. Pass it to every call to the outside.
   */
  readonly signal: AbortSignal;
  /** Milliseconds left: until attempt timeout or task deadline, whichever is first. */
  readonly deadline: () => number;
  readonly logger: Logger;
  /** The same for all attempts of the step: for side effects of your own. */
  readonly idempotencyKey: string;
  /**
   * Checks right now that this attempt is still the valid one; throws `STALE_ATTEMPT`. Await it before a call to the
   * outside.
   */
  readonly fence: () => Promise<void>;
  /** Reports progress to whoever watches; may get lost. `fraction` 0…1. */
  readonly progress: (message: string, fraction?: number) => void;
  readonly blackboard: {
    /**
     * Proposes knowledge; stored when this resolves. It then waits for the task's verdict. Returns the candidate's id.
     */
    readonly propose: (candidate: Candidate) => Promise<string>;
  };
  /**
   * The model that the worker was configured with (`MODEL`, `MODEL_URL`); without one, the rules that requests provide.
   * Its calls cost money: not for `pure` executors.
   */
  readonly model: StepModel;
  /** Chooses what goes into one prompt: within a budget, in whole sentences, naming what was left out. */
  readonly context: (options: ContextOptions) => BuiltContext;
  /**
   * Short-lived memory of one conversation of this tenant. There is no default conversation. Not for `pure` executors.
   */
  readonly session: (sessionId: string, options?: SessionOptions) => StepSession;
  readonly documents: {
    /** The document's text, checked against its SHA-256. */
    readonly read: (ref: DocumentRef) => Promise<string>;
  };
};

export type ExecutorDefinition<I extends z.ZodType, O extends z.ZodType> = {
  readonly role: string;
  /** `<workflow>/<step kind>`. */
  readonly name: string;
  /** Strict at every depth. */
  readonly input: I;
  /** Strict at every depth; an output with another key is refused. */
  readonly output: O;
  /**
   * It only computes its output from its input (and from what it reads at the pin): no effects, no candidates, no calls
   * that cost money. Such an attempt runs before its claim is granted and hands in its result together with the request
   * for the claim; it may run twice, and one run counts. Default false.
   */
  readonly pure?: boolean;
  /** Ends a run sooner than the plan's timeout would. Milliseconds, default: the plan's. */
  readonly timeoutMs?: number;
  readonly run: (ctx: ExecutorContext<z.infer<I>>) => Promise<z.input<O>> | z.input<O>;
};

/** A checked executor, ready for `startWorker` and for a workflow's step. `I` and `O`: its input and output. */
export type Executor<I = unknown, O = unknown> = ExecutorContract<I, O> & {
  readonly pure: boolean;
  readonly timeoutMs: number | undefined;
  /**
   * `step` is made for this one run and completed with the parsed, frozen input. Throws `SCHEMA_MISMATCH` (input),
   * `OUTPUT_CONTRACT` (output), or whatever `run` throws.
   */
  readonly execute: (step: StepContext, input: unknown) => Promise<JsonObject>;
};

/**
 * Defines an executor and checks its contract, once. Throws `CONFIGURATION` for a contract that lets reasoning or
 * unnamed keys cross.
 */
export function defineExecutor<I extends z.ZodType, O extends z.ZodType>(
  definition: ExecutorDefinition<I, O>,
  // Never passed: a contract that names what may not cross doesn't compile.
  ..._clean: CleanContract<I, O>
): Executor<z.input<I>, z.output<O>> {
  const { name, role, timeoutMs, pure = false } = definition;
  for (const parsed of [ExecutorName.safeParse(name), RoleName.safeParse(role)]) {
    if (!parsed.success) throw new AppError('CONFIGURATION', `executor ${name}: ${parsed.error.issues[0]?.message}`);
  }
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0)) {
    throw new AppError('CONFIGURATION', `executor ${name}: timeoutMs must be a positive whole number`);
  }
  const contract = {
    input: toStateContract(name, 'input', definition.input),
    output: toStateContract(name, 'output', definition.output),
  };
  const openKeys = findOpenKeys(contract.input);
  const execute = async (step: StepContext, input: unknown): Promise<JsonObject> => {
    const parsed = definition.input.safeParse(input);
    if (!parsed.success) throw mismatch('input', parsed.error);
    refuseForbidden(name, 'input', parsed.data, openKeys);
    // The step's context is made for this one run: adding to it keeps its lazy parts lazy.
    const ctx: ExecutorContext<z.infer<I>> = Object.freeze(Object.assign(step, { input: deepFreeze(parsed.data) }));
    return checkOutput(name, definition.output, await definition.run(ctx));
  };
  return { role, name, pure, timeoutMs, contract, execute };
}

function checkOutput(name: string, schema: z.ZodType, output: unknown): JsonObject {
  const parsed = schema.safeParse(output);
  if (!parsed.success) {
    const { message, details } = mismatch('output', parsed.error);
    throw new AppError('OUTPUT_CONTRACT', `executor ${name}: ${message}`, details === undefined ? {} : { details });
  }
  const { data } = parsed;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new AppError('OUTPUT_CONTRACT', `executor ${name}: the output must be an object`);
  }
  const emptied = findEmptied(output, data, 'output');
  if (emptied !== undefined)
    throw new AppError(
      'OUTPUT_CONTRACT',
      `executor ${name}: ${emptied}, of which nothing would be left: return plain objects and arrays of text, numbers and booleans`,
    );
  refuseForbidden(name, 'output', data, NO_KEYS);
  return data as JsonObject;
}

const NO_KEYS: ReadonlySet<string> = new Set();

/** Records and unions accept names that no schema shows, so each value is searched as well. */
function refuseForbidden(executor: string, side: 'input' | 'output', data: unknown, open: ReadonlySet<string>): void {
  if (typeof data !== 'object' || data === null) return;
  const forbidden = findForbiddenName(data, side, open);
  if (forbidden === undefined) return;
  const code = side === 'input' ? 'SCHEMA_MISMATCH' : 'OUTPUT_CONTRACT';
  throw new AppError(code, `executor ${executor}: ${forbidden} is a forbidden name: pass structured results only`);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
