import { runWorkerService } from '@cleanslate/runtime';
import { executors } from './handlers/index.ts';

await runWorkerService({ role: 'analyzer', env: process.env, executors });
