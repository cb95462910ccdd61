import { setTimeout } from 'node:timers/promises';
import { isAppError, type TaskState, taskIdFromKey } from '@cleanslate/contracts';
import type { Client } from './client.ts';

export type RerunOptions = {
  /** The reason for the rerun: the same key runs each task again only once, however often it is asked for. */
  readonly key: string;
  /** The knowledge revision that the new tasks see. Default: that of the old task. */
  readonly revision?: number;
  /** Most new tasks per second. Default 5. */
  readonly rate?: number;
  /** Most new tasks in flight at once. Default 10. */
  readonly inFlight?: number;
  readonly signal?: AbortSignal;
};

/** An old task with the one that replaces it, once that one has ended; without a new task, the reason why. */
export type Rerun = {
  readonly from: string;
  readonly to: string | null;
  readonly state: TaskState | null;
  readonly problem: string | null;
};

/**
 * Runs tasks again as forks, a few at a time, and yields each as it ends. Old tasks stay as they are. Throws if the
 * platform can't be reached.
 */
export async function* rerunTasks(
  client: Client,
  tasks: Iterable<string> | AsyncIterable<string>,
  options: RerunOptions,
): AsyncGenerator<Rerun, void, undefined> {
  const { rate = 5, inFlight = 10, signal } = options;
  const running = new Set<Promise<Rerun>>();
  const next = async () => {
    const ended = await Promise.race([...running].map(async (each) => ({ each, rerun: await each })));
    running.delete(ended.each);
    return ended.rerun;
  };
  let due = performance.now();
  for await (const taskId of tasks) {
    while (running.size >= inFlight) yield await next();
    await setTimeout(Math.max(0, due - performance.now()), undefined, signal === undefined ? {} : { signal });
    due = Math.max(due, performance.now()) + 1_000 / rate;
    const one = rerun(client, taskId, options);
    // Awaited below; until then its failure must not end the process.
    one.catch(() => undefined);
    running.add(one);
  }
  while (running.size > 0) yield await next();
}

async function rerun(client: Client, from: string, { key, revision, signal }: RerunOptions): Promise<Rerun> {
  // The id that the scheduler will choose: a task whose answer is no longer kept is found all the same.
  const to = taskIdFromKey(client.tenant, `fork fork.${key}.${from}`);
  try {
    await client.fork(from, { key, ...(revision === undefined ? {} : { revision }) });
  } catch (error) {
    if (!isAppError(error) || error.disposition !== 'terminal') throw error;
    if (error.code !== 'IDEMPOTENCY_CONFLICT') return { from, to: null, state: null, problem: error.message };
  }
  const { state } = await client.result(to, signal === undefined ? {} : { signal });
  return { from, to, state, problem: null };
}
