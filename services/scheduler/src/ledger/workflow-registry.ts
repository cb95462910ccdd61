import { AppError, toAppError } from '@cleanslate/contracts';
import { type CompiledWorkflow, loadWorkflow } from '@cleanslate/domain/ledger';
import { findWorkflows, putWorkflow, type Tx } from '@cleanslate/store/ledger';
import { z } from 'zod';

/** A workflow with the reader of its input, made once: a schema costs far more to build than to use. */
export type KnownWorkflow = CompiledWorkflow & { readonly input: z.ZodType };

/**
 * The workflows that this platform takes submits for: those it was started with, and those that workers brought along,
 * as the ledger has them. Running tasks need neither: they keep their plan in the ledger.
 */
export class WorkflowRegistry {
  readonly #own: ReadonlyMap<string, KnownWorkflow>;
  readonly #onUnreadable: (workflow: string, error: unknown) => void;
  #registered: ReadonlyMap<string, KnownWorkflow> = new Map();

  /**
   * `onUnreadable`: a newer scheduler took a plan that this one can't read. Here it is unknown,
   * and everything else goes on.
   */
  constructor(
    workflows: readonly CompiledWorkflow[],
    onUnreadable: (workflow: string, error: unknown) => void = () => undefined,
  ) {
    this.#onUnreadable = onUnreadable;
    this.#own = new Map(workflows.map((workflow) => [workflow.name, toKnown(workflow)]));
  }

  find(name: string): KnownWorkflow | undefined {
    return this.#own.get(name) ?? this.#registered.get(name);
  }

  names(): readonly string[] {
    return [...this.#own.keys(), ...this.#registered.keys()].sort();
  }

  /** Takes over what workers registered, here or at another scheduler. */
  async refresh(tx: Tx): Promise<void> {
    const known = this.#registered;
    const registered = new Map<string, KnownWorkflow>();
    for (const { workflow, planHash, plan } of await findWorkflows(tx)) {
      const same = known.get(workflow);
      try {
        registered.set(workflow, same?.planHash === planHash ? same : toKnown({ name: workflow, planHash, plan }));
      } catch (error) {
        this.#onUnreadable(workflow, error);
      }
    }
    this.#registered = registered;
  }

  /** Stores plans as that role's; call `refresh` after the commit. Throws `PLAN_INVALID`, `WORKFLOW_TAKEN`. */
  async register(tx: Tx, role: string, plans: readonly unknown[]): Promise<readonly CompiledWorkflow[]> {
    const workflows = plans.map(loadWorkflow);
    for (const workflow of workflows) toKnown(workflow);
    for (const { name, planHash, plan } of workflows) {
      if (this.#own.has(name)) throw taken(name, 'the platform itself');
      const owner = await putWorkflow(tx, { workflow: name, role, planHash, plan });
      if (owner !== role) throw taken(name, `role "${owner}"`);
    }
    return workflows;
  }
}

function taken(name: string, owner: string): AppError {
  return new AppError('WORKFLOW_TAKEN', `workflow "${name}" belongs to ${owner}: give yours another name`);
}

/** Throws `PLAN_INVALID` for an input schema that can't be read. */
function toKnown(workflow: CompiledWorkflow): KnownWorkflow {
  const schema = workflow.plan.inputSchema as Parameters<typeof z.fromJSONSchema>[0];
  try {
    return { ...workflow, input: z.fromJSONSchema(schema) };
  } catch (error) {
    throw new AppError('PLAN_INVALID', `workflow "${workflow.name}": inputSchema: ${toAppError(error).message}`, {
      cause: error,
    });
  }
}
