import { type EnumWords, findQuantities, foldWidth, type QuantityUnit, readEnum } from '@cleanslate/domain';
import { z } from 'zod';

/**
 * A value of an enum as models write it (`High`, `high risk`, `高`), by a table of words. A word that is not in the
 * table is refused with the list of allowed ones; nothing is guessed.
 */
export function modelEnum<T extends string>(words: EnumWords<T>): z.ZodType<T> {
  return z
    .string()
    .meta({ enum: Object.keys(words) })
    .transform((word, context) => {
      const read = readEnum(words, word);
      if (read.ok) return read.value;
      context.addIssue({ code: 'custom', message: read.message });
      return z.NEVER;
    });
}

/**
 * A number as models write it: 12.5, "１２．５％", "百分之6", "一百六十八萬". With `unit`, text that names another unit is refused.
 * Never NaN, and never 0 for what is not a number.
 */
export function modelNumber(options: { readonly unit?: QuantityUnit } = {}): z.ZodType<number> {
  const { unit } = options;
  return z
    .unknown()
    .meta({ type: 'number' })
    .transform((value, context) => {
      const number =
        typeof value === 'number' ? value : typeof value === 'string' ? readNumber(value, unit) : undefined;
      if (number !== undefined && Number.isFinite(number)) return number;
      context.addIssue({ code: 'custom', message: `must be one number${unit === undefined ? '' : ` (${unit})`}` });
      return z.NEVER;
    });
}

/** A range as models write it: `{ "from": 5, "to": 20 }` or "５－２０％". One number is a range of itself. */
export function modelRange(options: { readonly unit?: QuantityUnit } = {}): z.ZodType<{ from: number; to: number }> {
  const bound = modelNumber(options);
  return z
    .union([z.strictObject({ from: bound, to: bound }), z.string(), z.number()])
    .meta({ type: 'object', properties: { from: { type: 'number' }, to: { type: 'number' } }, anyOf: undefined })
    .transform((value, context) => {
      const range = typeof value === 'object' ? value : readRange(String(value), options.unit);
      if (range !== undefined && range.from <= range.to) return range;
      context.addIssue({ code: 'custom', message: 'must be a range: { "from": number, "to": number }' });
      return z.NEVER;
    });
}

function readNumber(text: string, unit: QuantityUnit | undefined): number | undefined {
  const [found, another] = findQuantities(text);
  if (found === undefined || another !== undefined || found.conflict !== undefined) return undefined;
  const outside = text.slice(0, found.span.start) + text.slice(found.span.end);
  // What is left over may name the thing, but not change the number.
  if (/[\p{N}+*/^~<>≤≥-]/u.test(foldWidth(outside))) return undefined;
  if (unit !== undefined && found.unit !== 'number' && found.unit !== unit) return undefined;
  return Number(found.value);
}

function readRange(text: string, unit: QuantityUnit | undefined): { from: number; to: number } | undefined {
  const parts = foldWidth(text).split(/\s*(?:[-–—~～至到]|\bto\b)\s*/iu);
  const [first = '', second = first] = parts;
  if (parts.length > 2) return undefined;
  const [from, to] = [readNumber(first, unit), readNumber(second, unit)];
  return from === undefined || to === undefined ? undefined : { from, to };
}
