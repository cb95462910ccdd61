import type { Pin, Plan, Priority, TaskSubmit } from '@cleanslate/contracts';
import { DEFAULT_DEADLINE_MS } from '@cleanslate/contracts';
import type { Decided } from './decide.ts';
import { Decision } from './decision.ts';
import { newStep } from './new-step.ts';
import { settle } from './progress.ts';
import type { MachineOptions, Task } from './state.ts';

export type Submission = {
  readonly tenantId: string;
  readonly taskId: string;
  readonly submitId: string;
  readonly bodyHash: string;
  readonly planHash: string;
  readonly plan: Plan;
  readonly pin: Pin;
  readonly traceparent: string | null;
  readonly submit: TaskSubmit;
};

/**
 * A checked submit → the new aggregate (task and all steps of its plan pending, the first ones ready) and its events.
 */
export function accept(epoch: number, submission: Submission, now: number, options: MachineOptions): Decided {
  const { plan, submit } = submission;
  const deadlineMs = submit.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const priority: Priority = submit.priority ?? 'normal';
  const task: Task = {
    tenantId: submission.tenantId,
    taskId: submission.taskId,
    idempotencyKey: submit.key ?? null,
    bodyHash: submission.bodyHash,
    submitId: submission.submitId,
    workflow: submit.workflow,
    planHash: submission.planHash,
    state: 'pending',
    priority,
    round: 1,
    roundBase: 0,
    input: submit.input,
    result: null,
    error: null,
    pin: submission.pin,
    deadline: now + deadlineMs,
    deadlineMs,
    traceparent: submission.traceparent,
    failing: null,
    gate: null,
    forkedFrom: null,
    createdAt: now,
    updatedAt: now,
  };
  const steps = plan.steps.map((step) => newStep(step.key, step.key, step.role, step.executor, step.after));
  const decision = new Decision({ epoch, task, steps, plan }, now, options);
  decision.emit({ kind: 'task_accepted', task, steps });
  settle(decision, 'submit_accepted');
  return { state: decision.state, changes: decision.changes };
}
