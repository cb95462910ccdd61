import { z } from 'zod';

/** What every refused HTTP request is answered with (RFC 9457). `code` is stable API, the texts are for people. */
export const Problem = z.strictObject({
  /** `urn:cleanslate:error:<code>`. */
  type: z.string(),
  /** What was wrong, and where. */
  title: z.string(),
  status: z.int(),
  /** One of the platform's codes, or one that an executor of yours reported. */
  code: z.string(),
  /** What to do about it. */
  remedy: z.string(),
  /** Path of the request. */
  instance: z.string(),
  /** The id in the header `x-request-id`: find it in the gateway's log. */
  requestId: z.string(),
  retryAfterMs: z.number().nonnegative().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type Problem = z.infer<typeof Problem>;
