import { runReadingWorkerService } from '@cleanslate/runtime';
import { executors } from './handlers/index.ts';

await runReadingWorkerService({ role: 'validator', env: process.env, executors });
