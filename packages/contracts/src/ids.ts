import { z } from 'zod';

/**
 * Ids that become one token of a subject. The pattern refuses everything that means something to NATS (`.`, `*`, `>`,
 * spaces), so an id can never widen a filter.
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
/** Chosen by whoever states a fact: not an id that the platform uses for other messages. */
export const NewKnowledgeId = KnowledgeId.regex(/^(?!settled$)/, 'knowledge id "settled" is reserved: choose another');
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
export const UtcTime = z.iso.datetime({
  precision: 3,
  error: 'write a time in UTC with milliseconds, as in 2024-07-01T09:00:00.000Z',
});
/** PostgreSQL has no year 0: such a time can be parsed, but never stored. */
const isStorable = /^(?!0000)/;
const NO_YEAR_0 = 'there is no year 0000: omit the time if it is open';
/** A time as agents and imports give it. */
export const ValidTime = UtcTime.regex(isStorable, NO_YEAR_0).meta({ format: 'date-time' });
/**
 * On the first day of year 1 and the last one of 9999 an offset may lead out of the years in which a UTC
 * time can be written and stored. A pattern, not a refinement: with one, no submit would be checked the
 * short way (`check-json.ts`).
 */
const isStorableInUtc = /^(?!0000|0001-01-01T.*\+(?!00:00$)|9999-12-31T.*-(?!00:00$)\d\d:\d\d$)/;
/** What people type: an ISO time with an offset, or a plain date (midnight UTC). */
export const AnyTime = z.union(
  [
    z.iso.datetime({ offset: true }).regex(isStorableInUtc).meta({ format: 'date-time' }),
    z.iso.date().regex(isStorable).meta({ format: 'date' }),
  ],
  'write a date (2024-07-01, midnight UTC) or a time with its zone (2024-07-01T09:00:00+02:00), from the year 1 to 9999 in UTC',
);

/** Reserved task id of `submit.refused` events for submits that contain no valid id. */
export const INVALID_TASK_ID = 'invalid';
/** Reserved knowledge id under which the maintainer confirms that a task's candidates are settled. */
export const SETTLED_ID = 'settled';
