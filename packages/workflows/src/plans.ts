import { contractReviewWorkflow } from './contract-review/workflow.ts';
import { noopWorkflow } from './noop/workflow.ts';
import { questionAnsweringWorkflow } from './question-answering/workflow.ts';

/** The built-in workflows, as plans alone: a process that only plans holds none of their executors in memory. */
export const WORKFLOWS = [contractReviewWorkflow, questionAnsweringWorkflow, noopWorkflow] as const;
