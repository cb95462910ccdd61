import { AsyncLocalStorage } from 'node:async_hooks';
import type { Claim } from './claim.ts';

const runs = new AsyncLocalStorage<Claim>();

/** Runs an executor so that a fault which it leaves to nobody can be traced to its claim, however late it comes. */
export function traceFaults<T>(claim: Claim, run: () => T): T {
  return runs.run(claim, run);
}

/** Whose run left the fault that the process is told of right now: to be asked in the handler itself. */
export function findFaultyClaim(): Claim | undefined {
  return runs.getStore();
}
