import { AppError, isAppError, mismatch } from '@cleanslate/contracts';
import { z } from 'zod';

type Fields = Readonly<Record<string, z.ZodType>>;

/** Path or query: texts, read as what the field is. Unknown and repeated ones are errors, not ignored. */
export function readFields(where: 'path' | 'query', fields: Fields, given: unknown): Record<string, unknown> {
  const texts = z.record(z.string(), z.unknown()).parse(given ?? {});
  const read = Object.entries(texts).map(([name, text]) => [name, toValue(fields[name], text)]);
  return parse(where, z.strictObject(fields), Object.fromEntries(read), 'url');
}

/** If every field is optional, so is the body. */
export function readBody(schema: z.ZodObject | undefined, body: unknown): Record<string, unknown> {
  if (schema !== undefined) return parse('body', schema, body ?? {});
  if (body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0)) return {};
  throw new AppError('INVALID_INPUT', 'this request takes no body', { details: { remedy: 'send none' } });
}

/** Throws `SCHEMA_MISMATCH` naming each field. */
export function parse<S extends z.ZodType>(what: string, schema: S, value: unknown, from?: 'url'): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const error = mismatch(what, parsed.error, value);
  if (from === undefined || !isAppError(error)) throw error;
  throw new AppError(error.code, error.message, { details: { ...error.details, in: from } });
}

function toValue(schema: z.ZodType | undefined, text: unknown): unknown {
  if (schema === undefined || typeof text !== 'string') return text;
  // What a text can't be anyway is read as JSON would be: `limit=5`, `needsHuman=true`.
  const asText = schema.safeParse(text);
  if (asText.success) return text;
  if (/^-?[0-9]{1,15}$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : text;
}
