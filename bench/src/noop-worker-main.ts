import { BUILT_IN_ROLES } from '@cleanslate/contracts';
import { defineExecutor, runWorkerService } from '@cleanslate/runtime';
import { z } from 'zod';

// A worker of the bench: `bench/noop` as an executor that is not pure, so that each step is claimed before
// it runs and reported behind.

const role = process.env['ROLE'] ?? '';
if (!BUILT_IN_ROLES.includes(role as (typeof BUILT_IN_ROLES)[number])) throw new Error('ROLE names a built-in role');

await runWorkerService({
  role,
  env: process.env,
  executors: () => [
    defineExecutor({
      role,
      name: 'bench/noop',
      input: z.strictObject({}),
      output: z.strictObject({}),
      run: () => ({}),
    }),
  ],
});
