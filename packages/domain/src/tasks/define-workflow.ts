import { createHash } from 'node:crypto';
import {
  type Condition,
  canonicalJson,
  type Gate,
  type Growth,
  type Join,
  type Mapping,
  type Plan,
  type PlanStep,
  type RetryPolicy,
  type Validation,
} from '@cleanslate/contracts';
import { z } from 'zod';
import { checkContracts } from './check-contracts.ts';
import { checkPlan } from './check-plan.ts';
import type { ExecutorContract } from './executor-contract.ts';
import { invalid } from './invalid-plan.ts';
import type { Fitting } from './workflow-types.ts';

export type StepDefinition = {
  /** The role whose workers do it; with an executor passed as an object it is the executor's. */
  readonly role?: string;
  /**
   * As an object (from `defineExecutor`), its contract is checked against what the mappings lead to. By name, nothing
   * is known about it.
   */
  readonly executor: string | ExecutorContract;
  readonly after?: readonly string[];
  /** Field → path (`input.document`, `steps.analyze.output`, `pin`, `feedback`) or `{ value }`. */
  readonly input: Readonly<Record<string, string | { readonly value: unknown }>>;
  /** One attempt. Milliseconds, default 5 min. */
  readonly timeoutMs?: number;
  /** Time to wait for a worker, from the first dispatch. Milliseconds, default 24 h. */
  readonly queueTtlMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  /**
   * With several predecessors: `all` (default), `any`, `{ quorum: n }`, or `best_effort`: when all have ended, in
   * whatever way.
   */
  readonly join?: Join;
  /**
   * Run only if this holds: `{ path: 'steps.classify.output.kind', equals: 'lease' }`. Otherwise the step is skipped.
   */
  readonly when?: Condition;
  /** Undoes the step if its task fails after it completed. */
  readonly compensate?: Pick<StepDefinition, 'role' | 'executor' | 'input'>;
};

export type WorkflowDefinition = {
  readonly name: string;
  readonly input: z.ZodObject;
  /** Fields of the input that hold a document. */
  readonly documents?: readonly string[];
  readonly steps: Readonly<Record<string, StepDefinition>>;
  readonly validation?: Omit<Validation, 'rework'> & { readonly rework: readonly string[] };
  /** A person decides about a step's result, or about what passed validation. */
  readonly gate?: Gate;
  /**
   * Steps that a planning step asks for: one for each of its output's `subGoals`, made from
   * `step`, which serves the first.
   */
  readonly growth?: Growth;
  /** Path of the result. */
  readonly result: string;
};

export type CompiledWorkflow = { readonly name: string; readonly planHash: string; readonly plan: Plan };

const DEFAULTS = {
  timeoutMs: 5 * 60_000,
  queueTtlMs: 24 * 3_600_000,
  retry: { maxAttempts: 3, baseMs: 1_000, maxMs: 60_000 },
} as const;

/**
 * A workflow written in TypeScript → data: a checked plan and its hash. Throws `PLAN_INVALID` naming the step and the
 * fault, and `CONTRACT_MISMATCH` if a mapping does not fit its executor (the compiler says so first).
 */
export function defineWorkflow<const D extends WorkflowDefinition>(definition: D & Fitting<D>): CompiledWorkflow {
  return compile(definition);
}

function compile(definition: WorkflowDefinition): CompiledWorkflow {
  const compiled = loadWorkflow({
    workflow: definition.name,
    inputSchema: z.toJSONSchema(definition.input),
    documents: [...(definition.documents ?? [])],
    steps: Object.entries(definition.steps).map(([key, step]) => toPlanStep(key, step)),
    validation: definition.validation ?? null,
    ...(definition.gate && { gate: definition.gate }),
    ...(definition.growth && { growth: definition.growth }),
    result: toMapping(definition.result),
  });
  checkContracts(definition);
  return compiled;
}

/** A plan as data (a JSON file), checked and hashed. Throws `PLAN_INVALID`. */
export function loadWorkflow(data: unknown): CompiledWorkflow {
  const plan = checkPlan(data);
  const planHash = createHash('sha256').update(canonicalJson(plan)).digest('hex').slice(0, 32);
  return { name: plan.workflow, planHash, plan };
}

function toPlanStep(key: string, step: StepDefinition): PlanStep {
  return {
    key,
    ...toWorker(`step "${key}"`, step),
    after: [...(step.after ?? [])],
    input: toMappings(step.input),
    timeoutMs: step.timeoutMs ?? DEFAULTS.timeoutMs,
    queueTtlMs: step.queueTtlMs ?? DEFAULTS.queueTtlMs,
    retry: { ...DEFAULTS.retry, ...step.retry },
    ...(step.join && { join: step.join }),
    ...(step.when && { when: step.when }),
    ...(step.compensate && {
      compensate: {
        ...toWorker(`compensation of step "${key}"`, step.compensate),
        input: toMappings(step.compensate.input),
      },
    }),
  };
}

function toWorker(where: string, { role, executor }: Pick<StepDefinition, 'role' | 'executor'>) {
  const found = typeof executor === 'string' ? { role, name: executor } : executor;
  if (found.role === undefined) throw invalid(`${where} names its executor by name only: name its "role" too`);
  if (role !== undefined && role !== found.role)
    throw invalid(`${where} names role "${role}", but ${found.name} is for role "${found.role}": leave "role" out`);
  return { role: found.role, executor: found.name };
}

function toMappings(input: StepDefinition['input']): Record<string, Mapping> {
  return Object.fromEntries(Object.entries(input).map(([field, source]) => [field, toMapping(source)]));
}

function toMapping(source: string | { readonly value: unknown }): Mapping {
  return typeof source === 'string' ? { from: source } : { value: source.value };
}
