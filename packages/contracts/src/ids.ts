import { z } from 'zod';

/**
 * Ids that become one token of a subject. The pattern refuses everything that has a meaning to NATS
 * (`.`, `*`, `>`, blanks), so an id can never widen a filter.
 */
export const TOKEN_PATTERN = /^[a-z0-9][a-z0-9_-]{0,62}$/;

const token = (what: string) =>
  z.string().regex(TOKEN_PATTERN, {
    message: `${what} must match ${TOKEN_PATTERN.source}: lower-case letters, digits, "_" and "-", at most 63 characters`,
  });

export const TenantId = token('tenant id');
export const TaskId = token('task id');
export const RoleName = token('role');
export const WorkflowName = token('workflow');
export const WorkerId = token('worker id');
export const ScheduleId = token('schedule id');
export const SessionId = token('session id');
export const KnowledgeId = token('knowledge id');
/** A step's key inside its task's plan: `analyze`, and `analyze#2` for the step added by the second round. */
export const StepId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,47}(#[1-9][0-9]{0,3})?$/, {
  message: 'step id must be a plan key such as "analyze" or "analyze#2"',
});
/** `<workflow>/<step kind>`, e.g. `contract-review/analyze`. */
export const ExecutorName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}(\/[a-z0-9][a-z0-9_-]{0,62})?$/);
export const ClaimId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/);
export const CandidateId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:#-]{0,159}$/);
/** `knowledgeId@version`: one version of one fact. */
export const FactRef = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}@[1-9][0-9]{0,8}$/);
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** UTC with milliseconds, as `Date.prototype.toISOString` prints it. */
export const UtcTime = z.iso.datetime({ precision: 3 });
/** What people type: any ISO time with an offset, or a plain date (midnight UTC). */
export const AnyTime = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** Reserved task id of `submit.refused` events for submits in which no valid id could be read. */
export const INVALID_TASK_ID = 'invalid';
/** Reserved knowledge id under which the maintainer confirms that a task's candidates are settled. */
export const SETTLED_ID = 'settled';
