import { z } from 'zod';
import { AttemptRef } from '../fence.ts';
import { RoleName, WorkerId } from '../ids.ts';
import { defineMessage } from '../message.ts';

const ModelCallId = z.uuid();
const ModelName = z.string().min(1).max(200);
const Tokens = z.int().nonnegative().max(1_000_000_000);
/** In the unit of the prices that the worker was configured with. */
const Cost = z.number().nonnegative().max(1e9);

/**
 * Request on `mdl.<role>`: a worker asks for permission to make one request to a model (`reserve`), says that its
 * requests are still running (`renew`), or reports what one used (`settle`). Repeated with the same id it is the same
 * request.
 */
export const ModelCallAsk = defineMessage({
  name: 'model.call',
  version: 1,
  data: z.discriminatedUnion('ask', [
    z.strictObject({
      ask: z.literal('reserve'),
      worker: WorkerId,
      role: RoleName,
      callId: ModelCallId,
      attempt: AttemptRef,
      model: ModelName,
      /** The most it can use: prompt and longest answer. */
      tokens: Tokens,
      cost: Cost.optional(),
    }),
    z.strictObject({
      ask: z.literal('renew'),
      worker: WorkerId,
      role: RoleName,
      callIds: z.array(ModelCallId).min(1).max(1_000),
    }),
    z.strictObject({
      ask: z.literal('settle'),
      worker: WorkerId,
      role: RoleName,
      callId: ModelCallId,
      attempt: AttemptRef,
      promptTokens: Tokens,
      completionTokens: Tokens,
      cost: Cost.optional(),
    }),
  ]),
});
export type ModelCallAsk = z.infer<typeof ModelCallAsk.data>;

/** The limit that was reached, for a person: `requests at once of model "m"`. */
const LimitText = z.string().max(500);

export const ModelCallReply = defineMessage({
  name: 'model.call.reply',
  version: 1,
  data: z.discriminatedUnion('answer', [
    z.strictObject({
      answer: z.literal('granted'),
      /** Unless it is renewed, it ends this long after it was asked for. */
      leaseMs: z.int().positive(),
      /**
       * The limit is on requests at once: if the lease can't be renewed, the request must be broken off, since another
       * may begin.
       */
      bounded: z.boolean(),
    }),
    /** Not now. There may be room by then. */
    z.strictObject({ answer: z.literal('wait'), limit: LimitText, retryInMs: z.int().nonnegative() }),
    /** Never under this limit: it is larger than the whole limit. */
    z.strictObject({ answer: z.literal('never'), limit: LimitText }),
    z.strictObject({ answer: z.literal('done'), lost: z.array(ModelCallId).max(1_000) }),
  ]),
});
export type ModelCallReply = z.infer<typeof ModelCallReply.data>;
