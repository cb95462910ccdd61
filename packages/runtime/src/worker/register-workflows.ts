import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, backoffMs, request } from '@cleanslate/bus';
import {
  AppError,
  decodeMessage,
  encodeMessage,
  isAppError,
  type Plan,
  subjects,
  toAppError,
  WorkflowRegister,
  WorkflowRegisterReply,
} from '@cleanslate/contracts';
import type { CompiledWorkflow } from '@cleanslate/domain';
import type { Executor } from '../executor/executor.ts';
import type { WorkerIdentity } from './identity.ts';

export type RegisterOptions = {
  readonly bus: Bus;
  readonly identity: WorkerIdentity;
  readonly workflows: readonly CompiledWorkflow[];
  /** Ends the tries. */
  readonly signal: AbortSignal;
  readonly onFailure: (error: AppError) => void;
};

const TIMEOUT_MS = 5_000;
const AGAIN = { firstMs: 200, maxMs: 5_000 };

/**
 * Registers the worker's workflows with the scheduler. While that is away it asks again, for as long as it takes.
 * Throws what it refuses for good: `WORKFLOW_TAKEN`, `PLAN_INVALID`, `UNAUTHORIZED`.
 */
export async function registerWorkflows(options: RegisterOptions): Promise<void> {
  const { bus, identity, workflows, signal, onFailure } = options;
  const { role, workerId: worker } = identity;
  const plans = workflows.map(({ plan }) => plan);
  for (let tries = 1; !signal.aborted; tries++) {
    try {
      const body = encodeMessage(WorkflowRegister, identity.envelope(), { worker, role, workflows: plans });
      const reply = await request(bus, subjects.register(role), body, { timeoutMs: TIMEOUT_MS });
      decodeMessage([WorkflowRegisterReply], reply);
      return;
    } catch (error) {
      if (isAppError(error) && error.disposition !== 'retryable') throw error;
      onFailure(toAppError(error));
      await sleep(backoffMs(tries, AGAIN), undefined, { signal }).catch(() => undefined);
    }
  }
}

/**
 * Throws `CONFIGURATION` if a plan names an executor of this worker's role that the worker doesn't have: its step would
 * wait for ever.
 */
export function checkWorkflows(
  role: string,
  executors: readonly Executor[],
  workflows: readonly CompiledWorkflow[],
): void {
  const names = new Set(executors.map((executor) => executor.name));
  for (const { name, plan } of workflows) {
    const missing = executorsOf(plan, role).find((executor) => !names.has(executor));
    if (missing === undefined) continue;
    throw new AppError(
      'CONFIGURATION',
      `workflow "${name}" needs executor "${missing}" of role "${role}": add it to "executors"`,
    );
  }
}

function executorsOf(plan: Plan, role: string): string[] {
  return plan.steps
    .flatMap((step) => [step, ...(step.compensate ? [step.compensate] : [])])
    .filter((step) => step.role === role)
    .map((step) => step.executor);
}
