import { z } from 'zod';
import { ErrorBody } from '../errors.ts';
import { Pin, TaskState } from '../fence.ts';
import { Sha256, StepId, UtcTime, WorkflowName } from '../ids.ts';
import { defineMessage } from '../message.ts';

/** Event: the submit is committed in the ledger (now or, for a repeated key, before). */
export const TaskAccepted = defineMessage({
  name: 'task.accepted',
  version: 1,
  data: z.strictObject({
    workflow: WorkflowName,
    planHash: z.string(),
    pin: Pin,
    deadline: UtcTime,
    /** True when the key or task id was known already; `state` is then where that task is now. */
    duplicate: z.boolean(),
    state: TaskState,
  }),
});
export type TaskAccepted = z.infer<typeof TaskAccepted.data>;

/** Event: the submit was refused; nothing of it is kept. */
export const SubmitRefused = defineMessage({
  name: 'submit.refused',
  version: 1,
  data: z.strictObject({ error: ErrorBody }),
});
export type SubmitRefused = z.infer<typeof SubmitRefused.data>;

/** Event: the task changed its state. */
export const TaskTransitioned = defineMessage({
  name: 'task.transitioned',
  version: 1,
  data: z.strictObject({
    from: TaskState,
    to: TaskState,
    /** The trigger, as in the ledger's transition table: `first_step_dispatched`, `verdict_pass`, `cancelled`… */
    on: z.string(),
    round: z.int().positive(),
    error: ErrorBody.optional(),
    /** On `completed`: the workflow's result, or a reference where it is larger than 256 KiB. */
    result: z.unknown().optional(),
  }),
});
export type TaskTransitioned = z.infer<typeof TaskTransitioned.data>;

/** Event: a person is asked about the exact result with this hash: `slate task approve | reject | edit`. */
export const TaskGateOpened = defineMessage({
  name: 'task.gate_opened',
  version: 1,
  data: z.strictObject({
    /** The step whose output it is; after validation, the step that passed the result. */
    stepId: StepId,
    sha256: Sha256,
    expiresAt: UtcTime,
    onExpiry: z.enum(['reject', 'approve']),
  }),
});
export type TaskGateOpened = z.infer<typeof TaskGateOpened.data>;

/** Event: a step ended or went into back-off. That a step started is lossy progress (`prg.…`), not an event. */
export const StepTransitioned = defineMessage({
  name: 'step.transitioned',
  version: 1,
  data: z.strictObject({
    role: z.string(),
    from: TaskState,
    to: TaskState,
    on: z.string(),
    spent: z.int().nonnegative(),
    error: ErrorBody.optional(),
    /** On back-off: when the next attempt is due. */
    dueAt: UtcTime.optional(),
  }),
});
export type StepTransitioned = z.infer<typeof StepTransitioned.data>;
