import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { Fence } from './fence.ts';
import { SessionId, TaskId, UtcTime } from './ids.ts';

/** Bounds of one session. Beyond them the oldest items fall out. */
export const MAX_SESSION_ITEMS = 200;
export const MAX_SESSION_BYTES = 256 * 1024;
/** Of one item, as UTF-8. */
export const MAX_SESSION_ITEM_BYTES = 32 * 1024;
export const DEFAULT_SESSION_TTL_MS = 24 * 3_600_000;
export const MAX_SESSION_TTL_MS = 30 * DEFAULT_SESSION_TTL_MS;

/** There is no kind for errors: the task says what went wrong, and it is never played back as an answer. */
export const SessionSpeaker = z.enum(['user', 'agent', 'tool']);
export type SessionSpeaker = z.infer<typeof SessionSpeaker>;

export const SessionItem = z.strictObject({
  /** From 1, in the order of the conversation; gaps are what fell out. */
  n: z.int().positive(),
  from: SessionSpeaker,
  text: z.string().min(1).max(MAX_SESSION_ITEM_BYTES),
  /** The task that said it. */
  taskId: TaskId,
  at: UtcTime,
});
export type SessionItem = z.infer<typeof SessionItem>;

const SessionView = {
  items: z.array(SessionItem).max(MAX_SESSION_ITEMS),
  /** Items that fell out of the bounds since the last reset. */
  forgotten: z.int().nonnegative(),
  /** Items up to this one have been searched for candidates for long-term memory. */
  extractedThrough: z.int().nonnegative(),
  /** Null: the session holds nothing. */
  expiresAt: UtcTime.nullable(),
};

/**
 * What a running step may see of a session: what users said, what its own task said, and what completed tasks said. The
 * answer of a task that failed or is not judged yet is nothing to build on.
 */
export const SessionRead = defineEndpoint(
  { plane: 'obj', noun: 'session', verb: 'read', servedBy: 'scheduler' },
  () => z.strictObject({ sessionId: SessionId, fence: Fence }),
  () => z.strictObject({ sessionId: SessionId, ...SessionView }),
);

/**
 * Everything a step said, stored at once when it has succeeded. An item's `key` is its place in what the step says: a
 * later attempt or round replaces it.
 */
export const SessionWrite = defineEndpoint(
  { plane: 'obj', noun: 'session', verb: 'write', servedBy: 'scheduler' },
  () =>
    z.strictObject({
      sessionId: SessionId,
      fence: Fence,
      ttlMs: z.int().min(1_000).max(MAX_SESSION_TTL_MS),
      /** Forget everything first. */
      reset: z.boolean(),
      items: z
        .array(z.strictObject({ key: z.int().positive(), from: SessionSpeaker, text: SessionItem.shape.text }))
        .max(MAX_SESSION_ITEMS),
      /** Moves the mark of what was searched; does nothing if somebody else has moved it. */
      extracted: z.strictObject({ after: z.int().nonnegative(), through: z.int().positive() }).nullable(),
    }),
  /**
   * `reset`: the session was reset or expired after the task had been accepted. What the task says belongs to the old
   * session, and is not kept.
   */
  () => z.strictObject({ sessionId: SessionId, outcome: z.enum(['kept', 'reset']) }),
);

/** Sessions of a tenant by id. */
export const SessionList = defineEndpoint(
  { plane: 'qry', noun: 'session', verb: 'list', servedBy: 'gateway' },
  () => z.strictObject({ limit: z.int().min(1).max(500).optional(), after: SessionId.optional() }),
  () =>
    z.strictObject({
      sessions: z.array(
        z.strictObject({
          sessionId: SessionId,
          items: z.int().nonnegative(),
          bytes: z.int().nonnegative(),
          lastAt: UtcTime.nullable(),
          expiresAt: UtcTime,
        }),
      ),
      next: SessionId.nullable(),
    }),
);

/** Everything a session holds, including what no step is shown: `shown` says which. */
export const SessionShow = defineEndpoint(
  { plane: 'qry', noun: 'session', verb: 'show', servedBy: 'gateway' },
  () => z.strictObject({ sessionId: SessionId }),
  () =>
    z.strictObject({
      sessionId: SessionId,
      ...SessionView,
      items: z.array(z.strictObject({ ...SessionItem.shape, shown: z.boolean() })).max(MAX_SESSION_ITEMS),
    }),
);

/** Forgets everything in it. Tasks accepted earlier bring nothing back. */
export const SessionReset = defineEndpoint(
  { plane: 'ctl', noun: 'session', verb: 'reset', servedBy: 'scheduler' },
  () => z.strictObject({ sessionId: SessionId }),
  () => z.strictObject({ sessionId: SessionId, removed: z.int().nonnegative() }),
);
