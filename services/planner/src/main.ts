import { runWorkerService } from '@cleanslate/runtime';
import { executors } from './handlers/index.ts';

await runWorkerService({ role: 'planner', env: process.env, executors });
