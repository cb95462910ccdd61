import { AppError, type Endpoint, type ValueOf } from '@cleanslate/contracts';
import { z } from 'zod';

/** Schema of an endpoint's successful answer: stored answers are read with it. */
export function replySchema<E extends Endpoint>(endpoint: E): z.ZodType<ValueOf<E>> {
  return z.unknown().transform((value) => {
    const parsed = endpoint.reply.data.parse({ ok: true, value });
    if (!parsed.ok) throw new AppError('INTERNAL', 'an answer that succeeded is stored as a failure');
    return parsed.value as ValueOf<E>;
  });
}
