import { z } from 'zod';
import { JsonObject } from '../fence.ts';
import { RoleName, WorkerId, WorkflowName } from '../ids.ts';
import { defineMessage } from '../message.ts';

/**
 * Request on `reg.<role>`: workflows that a worker brings along, said at its start. A name belongs to the role that registered it first; saying the same
 * again changes nothing. Each is a plan (`Plan`): a wrong one is answered `PLAN_INVALID` with the step and the fault. Tasks that run keep the plan they were accepted with.
 */
export const WorkflowRegister = defineMessage({
  name: 'workflow.register',
  version: 1,
  data: z.strictObject({ worker: WorkerId, role: RoleName, workflows: z.array(JsonObject).min(1).max(100) }),
});
export type WorkflowRegister = z.infer<typeof WorkflowRegister.data>;

/** Reply, after commit: from now on they can be submitted. */
export const WorkflowRegisterReply = defineMessage({
  name: 'workflow.register.reply',
  version: 1,
  data: z.strictObject({ registered: z.array(z.strictObject({ workflow: WorkflowName, planHash: z.string() })) }),
});
export type WorkflowRegisterReply = z.infer<typeof WorkflowRegisterReply.data>;
