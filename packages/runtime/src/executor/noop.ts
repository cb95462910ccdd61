import { z } from 'zod';
import { defineExecutor, type Executor } from './executor.ts';

/** Takes nothing, returns nothing: the bench measures everything around it. */
export function noopExecutor(role: string): Executor {
  return defineExecutor({
    role,
    name: 'bench/noop',
    input: z.strictObject({}),
    output: z.strictObject({}),
    pure: true,
    run: () => ({}),
  });
}
