import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { JsonObject } from './fence.ts';
import { AnyTime, TaskId } from './ids.ts';
import { DeadLetterSummary, DeadLetterView } from './views.ts';

const LetterId = z.string().min(1).max(200);
/** Names one bulk replay: its letters can be listed by it. */
const BatchId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);

export const DeadLetterList = defineEndpoint(
  { plane: 'qry', noun: 'dlq', verb: 'list', servedBy: 'gateway' },
  () =>
    z.strictObject({
      limit: z.int().min(1).max(500).optional(),
      before: z.string().max(300).optional(),
      reason: z.string().max(64).optional(),
      role: z.string().max(64).optional(),
      workflow: z.string().max(64).optional(),
      taskId: TaskId.optional(),
      status: DeadLetterSummary.shape.status.optional(),
      /** Last failed at this time or later; before that time. */
      since: AnyTime.optional(),
      until: AnyTime.optional(),
      needsHuman: z.boolean().optional(),
      batch: BatchId.optional(),
      outcome: z.enum(['succeeded', 'failed_again']).optional(),
    }),
  () => z.strictObject({ letters: z.array(DeadLetterSummary), next: z.string().nullable() }),
);

export const DeadLetterShow = defineEndpoint(
  { plane: 'qry', noun: 'dlq', verb: 'show', servedBy: 'gateway' },
  () => z.strictObject({ letterId: LetterId }),
  () => DeadLetterView,
);

/** What a replay is given instead of the original bytes: a step's input, or a message's body (base64). */
export const LetterEdit = z.union([
  z.strictObject({ input: JsonObject }),
  z.strictObject({ body: z.base64().max(11_000_000) }),
]);
export type LetterEdit = z.infer<typeof LetterEdit>;

/**
 * Another attempt at what was given up on. `taskId` and `attempt` of the reply: the step's next attempt; for a submit
 * the task it became; null if a message went back to its reader.
 */
export const DeadLetterReplay = defineEndpoint(
  { plane: 'ctl', noun: 'dlq', verb: 'replay', servedBy: 'scheduler' },
  () =>
    z.strictObject({
      letterId: LetterId,
      /** Also if it was replayed before. */
      force: z.boolean().optional(),
      /** Show what would happen, change nothing. */
      dryRun: z.boolean().optional(),
      /** Part of a bulk replay: counted, and refused once the letter needs a person. */
      batch: BatchId.optional(),
      edit: LetterEdit.optional(),
    }),
  () => z.strictObject({ letterId: z.string(), taskId: TaskId.nullable(), attempt: z.int().positive().nullable() }),
);

/** Closes a letter that nobody will replay; it stays on record with its reason. */
export const DeadLetterDiscard = defineEndpoint(
  { plane: 'ctl', noun: 'dlq', verb: 'discard', servedBy: 'scheduler' },
  () => z.strictObject({ letterId: LetterId, reason: z.string().min(1).max(500) }),
  () => z.strictObject({ letterId: z.string(), changed: z.boolean() }),
);
