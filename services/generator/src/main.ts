import { runWorkerService } from '@cleanslate/runtime';
import { executors } from './handlers/index.ts';

await runWorkerService({ role: 'generator', env: process.env, executors });
