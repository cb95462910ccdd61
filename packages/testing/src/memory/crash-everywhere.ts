import type { CompiledWorkflow } from '@cleanslate/domain';
import { type Fault, faultPlan } from './faults.ts';
import { type MemoryRun, type MemoryRunOptions, runInMemory } from './run-in-memory.ts';

/**
 * Runs the task once without a fault, and then once for every point at which the scheduler or a worker could
 * have died: before and after each call to the outside. What `options` makes is made anew for each run.
 * Yields each run with its name.
 */
export async function* crashEverywhere(
  workflow: CompiledWorkflow,
  options: () => MemoryRunOptions,
): AsyncGenerator<MemoryRun & { readonly name: string }> {
  const calm = await runInMemory(workflow, options());
  yield { ...calm, name: 'no crash' };
  for (const { process, call, when, nth } of calm.portCalls) {
    const crash: Fault = { crash: process, call, when, nth };
    const run = await runInMemory(workflow, { ...options(), faults: faultPlan(crash) });
    yield { ...run, name: `${process} dies ${when} ${call} ${nth}` };
  }
}
