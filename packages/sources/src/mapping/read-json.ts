import { parseJson } from '@cleanslate/contracts';
import { sourceError } from '../source-error.ts';

/** `JSON.parse` hands a reviver the text of each value. */
type Reviver = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown;
const keepDigits: Reviver = (_key, value, context) =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? context.source
    : value;

/**
 * A source's JSON. Numbers that JavaScript would write differently (19 digits of an id, the last zero of `12.10`)
 * become their literal text. Throws `SOURCE_BAD_ANSWER`: not UTF-8, not JSON, nested too deeply, a key that could reach
 * a prototype.
 */
export function readJson(source: string, bytes: Uint8Array): unknown {
  try {
    // Checks depth and keys before anything walks through it.
    parseJson(bytes, 'its answer');
    return JSON.parse(new TextDecoder().decode(bytes), keepDigits);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : 'no JSON';
    throw sourceError('SOURCE_BAD_ANSWER', source, `gave no usable JSON: ${withoutQuotes(why)}`, { cause: error });
  }
}

/** The parser's message quotes the text; a source's content does not belong in an error. */
function withoutQuotes(message: string): string {
  return message.replace(/(?:,|:)? ?"[\s\S]*$/, '').replace(/\.\.\.[\s\S]*$/, '');
}
