import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, parseJson, toAppError } from '@cleanslate/contracts';
import { type CompiledWorkflow, loadWorkflow } from '@cleanslate/domain/ledger';

/**
 * Compiled plans of a folder, beside the built-in workflows. Throws `PLAN_INVALID` naming the file and the fault: a
 * service that can't take its work doesn't start.
 */
export async function loadWorkflows(
  builtIn: readonly CompiledWorkflow[],
  folder: string | undefined,
): Promise<readonly CompiledWorkflow[]> {
  if (folder === undefined) return builtIn;
  const workflows = [...builtIn];
  for (const name of (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()) {
    const workflow = await loadFile(join(folder, name));
    if (workflows.some((known) => known.name === workflow.name))
      throw new AppError('PLAN_INVALID', `${name}: there is a workflow "${workflow.name}" already`);
    workflows.push(workflow);
  }
  return workflows;
}

async function loadFile(file: string): Promise<CompiledWorkflow> {
  try {
    return loadWorkflow(parseJson(await readFile(file), file));
  } catch (error) {
    throw new AppError('PLAN_INVALID', `${file}: ${toAppError(error).message}`, { cause: error });
  }
}
