import type { z } from 'zod';
import { sourceError } from '../source-error.ts';

/** An answer in the form that its interface promises. Throws `SOURCE_BAD_ANSWER` naming the field. */
export function readAnswer<S extends z.ZodType>(source: string, schema: S, answer: unknown): z.infer<S> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join('.') || 'answer';
  throw sourceError(
    'SOURCE_BAD_ANSWER',
    source,
    `answered in another form than its interface has (${field}): is it that product, in a version we know?`,
  );
}
