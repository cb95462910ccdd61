import type { Logger, Metrics } from '@cleanslate/runtime/service';
import { Loop, type LoopOptions } from './loop.ts';

/** How everything that runs by itself is made: what fails is counted, logged and tried again. */
export type Background = {
  readonly loop: (name: string, everyMs: number, run: LoopOptions['run']) => Loop;
  readonly onError: LoopOptions['onError'];
};

type Observers = { readonly logger: Logger; readonly metrics: Metrics };

export function createBackground({ logger, metrics }: Observers): Background {
  const faults = metrics.counter(
    'slate_scheduler_faults_total',
    'Background work that failed and will be tried again',
    ['where'],
  );
  const onError = (error: unknown, where: string) => {
    faults.inc({ where });
    logger.warn({ err: error, where }, 'background work failed; it will be tried again');
  };
  return { onError, loop: (name, everyMs, run) => new Loop({ name, everyMs, run, onError }) };
}

/** Starts them all. Returns what stops them all, each after the run in progress. */
export function startLoops(loops: readonly Loop[]): () => Promise<void> {
  for (const loop of loops) loop.start();
  return async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
  };
}
