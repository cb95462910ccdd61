import { z } from 'zod';
import { ErrorBody } from '../errors.ts';
import { UtcTime } from '../ids.ts';
import { defineMessage } from '../message.ts';

/**
 * On `dlq.<stream>.<consumer>`: bytes that could not be read, or that belong to no attempt. Published,
 * PubAck awaited, before the original is terminated. `tenantid` in the envelope is the subject's, or
 * `unknown` where the subject names none.
 */
export const DeadLettered = defineMessage({
  name: 'message.dead_lettered',
  version: 1,
  data: z.strictObject({
    stream: z.string(),
    /**
     * Creation time of the stream: with stream and sequence it identifies the record, even after a stream was created
     * anew.
     */
    streamCreated: UtcTime,
    streamSequence: z.int().positive(),
    consumer: z.string(),
    subject: z.string(),
    headers: z.record(z.string(), z.array(z.string())),
    /** Base64 of the original bytes. */
    body: z.string(),
    error: ErrorBody,
    deliveries: z.int().positive(),
    failedAt: UtcTime,
  }),
});
export type DeadLettered = z.infer<typeof DeadLettered.data>;
