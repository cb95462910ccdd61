import { z } from 'zod';
import { JsonObject, Priority } from '../fence.ts';
import { AnyTime, WorkflowName } from '../ids.ts';
import { defineMessage } from '../message.ts';

/** Deadline of a task whose submit names none. */
export const DEFAULT_DEADLINE_MS = 3_600_000;
export const MAX_DEADLINE_MS = 30 * 24 * 3_600_000;

/**
 * Command: accept a task. `taskid` in the envelope is the client's choice; without it the id is UUIDv5 of
 * tenant and `key`. Answered after commit by one `task.accepted` or `submit.refused` event whose
 * `causationid` is this message's id.
 */
export const TaskSubmit = defineMessage({
  name: 'task.submit',
  version: 1,
  data: z.strictObject({
    workflow: WorkflowName,
    /** What the workflow's input schema asks for. */
    input: JsonObject,
    /** Idempotency key: the same key is the same task, for as long as the task is kept. */
    key: z.string().min(1).max(200).optional(),
    /** Milliseconds from acceptance; default 1 h. */
    deadlineMs: z.int().min(100).max(MAX_DEADLINE_MS).optional(),
    priority: Priority.optional(),
    /** Valid time the task's knowledge is pinned to; default: acceptance. */
    validAt: AnyTime.optional(),
    /** Knowledge revision the task is pinned to; default: the last committed at acceptance. */
    revision: z.int().nonnegative().optional(),
  }),
});
export type TaskSubmit = z.infer<typeof TaskSubmit.data>;
