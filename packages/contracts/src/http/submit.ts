import { z } from 'zod';
import { Pin, TaskState } from '../fence.ts';
import { TaskId, UtcTime, WorkflowName } from '../ids.ts';
import { TaskSubmit } from '../messages/task-submit.ts';

/** Body of `POST /v1/tasks`: the command's data, and the id if the client chooses one. */
export const SubmitBody = z.strictObject({ ...TaskSubmit.data.shape, taskId: TaskId.optional() });
export type SubmitBody = z.infer<typeof SubmitBody>;

/** Its answer: the task is committed in the ledger. */
export const Submitted = z.strictObject({
  taskId: TaskId,
  workflow: WorkflowName,
  state: TaskState,
  /** The key or task id was known already. */
  duplicate: z.boolean(),
  pin: Pin,
  deadline: UtcTime,
});
