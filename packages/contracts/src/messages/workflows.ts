import { z } from 'zod';
import { JsonObject } from '../fence.ts';
import { RoleName, WorkerId, WorkflowName } from '../ids.ts';
import { defineMessage } from '../message.ts';

/**
 * Request on `reg.<role>`: workflows that a worker registers when it starts. A name belongs to the role that registered
 * it first; repeating a registration changes nothing. Each workflow is a plan (`Plan`); a wrong one is answered with
 * `PLAN_INVALID`, the step and the fault. Running tasks keep the plan they were accepted with.
 */
export const WorkflowRegister = defineMessage({
  name: 'workflow.register',
  version: 1,
  data: z.strictObject({ worker: WorkerId, role: RoleName, workflows: z.array(JsonObject).min(1).max(100) }),
});
export type WorkflowRegister = z.infer<typeof WorkflowRegister.data>;

/** Reply, after the commit: they can be submitted from now on. */
export const WorkflowRegisterReply = defineMessage({
  name: 'workflow.register.reply',
  version: 1,
  data: z.strictObject({ registered: z.array(z.strictObject({ workflow: WorkflowName, planHash: z.string() })) }),
});
export type WorkflowRegisterReply = z.infer<typeof WorkflowRegisterReply.data>;
