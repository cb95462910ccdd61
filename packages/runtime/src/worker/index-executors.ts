import { AppError } from '@cleanslate/contracts';
import type { Executor } from '../executor/executor.ts';

/** Executors by name, as commands call them. Throws `CONFIGURATION` for one of another role, or two of one name. */
export function indexExecutors(role: string, executors: readonly Executor[]): ReadonlyMap<string, Executor> {
  const byName = new Map<string, Executor>();
  for (const executor of executors) {
    if (executor.role !== role) {
      throw new AppError(
        'CONFIGURATION',
        `executor ${executor.name} is for role ${executor.role}, this worker is a ${role}`,
      );
    }
    if (byName.has(executor.name)) throw new AppError('CONFIGURATION', `two executors are named ${executor.name}`);
    byName.set(executor.name, executor);
  }
  return byName;
}
