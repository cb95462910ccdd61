import { z } from 'zod';
import { ClaimId, StepId, TaskId, TenantId } from './ids.ts';

/** Names one attempt of one step. `ring` counts the doorbells of the attempt. */
export const AttemptRef = z.strictObject({
  epoch: z.int().positive(),
  tenantId: TenantId,
  taskId: TaskId,
  stepId: StepId,
  attempt: z.int().positive(),
});
export type AttemptRef = z.infer<typeof AttemptRef>;

/** The fencing token: an attempt and the one claim that may work on it. */
export const Fence = z.strictObject({ ...AttemptRef.shape, claimId: ClaimId });
export type Fence = z.infer<typeof Fence>;

/** The knowledge a task sees: one valid time, one knowledge revision. */
export const Pin = z.strictObject({ validAt: z.iso.datetime({ precision: 3 }), revision: z.int().nonnegative() });
export type Pin = z.infer<typeof Pin>;

export const TASK_STATES = ['pending', 'executing', 'awaiting_validation', 'completed', 'failed'] as const;
export const TaskState = z.enum(TASK_STATES);
export type TaskState = z.infer<typeof TaskState>;

export const Priority = z.enum(['low', 'normal', 'high']);
export type Priority = z.infer<typeof Priority>;

export const JsonObject = z.record(z.string(), z.unknown());
export type JsonObject = z.infer<typeof JsonObject>;
