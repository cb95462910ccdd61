import type { z } from 'zod';

/** Whether a schema would accept a JSON value unchanged. False proves nothing: zod decides then. */
type Accepts = (value: unknown) => boolean;

const shortcuts = new WeakMap<z.ZodType, Accepts | undefined>();

/**
 * Like `schema.safeParse`, for values made by `JSON.parse`. zod makes five objects for each value it checks, and nearly
 * everything that comes in is valid: this finds that out without any, and returns the value itself instead of a copy.
 * Whatever it cannot prove valid, and every schema that changes or refines values, zod checks and words.
 */
export function checkJson<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  let accepts = shortcuts.get(schema);
  if (accepts === undefined && !shortcuts.has(schema)) {
    accepts = toAccepts(schema);
    shortcuts.set(schema, accepts);
  }
  if (accepts?.(value) !== true) return schema.safeParse(value);
  return { success: true, data: value as z.output<S> };
}

/** Undefined for a schema that may change a value or asks more than is known here. */
function toAccepts(schema: z.core.$ZodType): Accepts | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const checks = toChecks(def);
  if (checks === undefined) return undefined;
  switch (def.type) {
    case 'string':
      return def.coerce ? undefined : every([(value) => typeof value === 'string', ...checks]);
    case 'number':
      return def.coerce ? undefined : every([Number.isFinite, ...checks]);
    case 'boolean':
      return def.coerce ? undefined : (value) => typeof value === 'boolean';
    case 'unknown':
      return () => true;
    case 'literal':
      return oneOf(def.values);
    case 'enum':
      return oneOf(Object.values(def.entries));
    case 'nullable': {
      const inner = toAccepts(def.innerType);
      return inner && ((value) => value === null || inner(value));
    }
    case 'array': {
      const element = toAccepts(def.element);
      return element && every([Array.isArray, ...checks, (value) => (value as unknown[]).every(element)]);
    }
    case 'union': {
      // A value that fits two members: one kind of union refuses it, another cuts it to what its first member knows.
      if (!('discriminator' in def) && (def.inclusive === false || !def.options.every(isExact))) return undefined;
      const options = allOf(def.options.map(toAccepts));
      return options && ((value) => options.some((option) => option(value)));
    }
    case 'record': {
      const valueType = toAccepts(def.valueType);
      const plainKeys = def.keyType._zod.def.type === 'string' && toChecks(def.keyType._zod.def)?.length === 0;
      return valueType && plainKeys ? (value) => isObject(value) && everyEntry(value, valueType) : undefined;
    }
    case 'object':
      return checks.length === 0 ? toObject(def.shape) : undefined;
    default:
      return undefined;
  }
}

/** All keys that are not optional, and none that the schema lacks: zod handles those it would drop. */
function toObject(shape: z.core.$ZodShape): Accepts | undefined {
  const names = Object.keys(shape);
  // Names that every object inherits.
  if (names.some((name) => name in Object.prototype)) return undefined;
  const optional = names.map((name) => shape[name]?._zod.def.type === 'optional');
  const fields = allOf(names.map((name) => toField(shape[name])));
  if (fields === undefined) return undefined;
  return (value) => {
    if (!isObject(value)) return false;
    let known = 0;
    for (let n = 0; n < names.length; n++) {
      const item = value[names[n] as string];
      if (item === undefined ? !optional[n] : !fields[n]?.(item)) return false;
      if (item !== undefined) known++;
    }
    for (const _ in value) known--;
    return known === 0;
  };
}

/** The value of an optional key, if it is there. */
function toField(schema: z.core.$ZodType | undefined): Accepts | undefined {
  if (schema === undefined) return undefined;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type !== 'optional') return toAccepts(schema);
  return toChecks(def)?.length === 0 ? toAccepts(def.innerType) : undefined;
}

/** Contains no object that accepts unknown keys in order to drop them. */
function isExact(schema: z.core.$ZodType): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return def.catchall?._zod.def.type === 'never' && Object.values(def.shape).every(isExact);
    case 'array':
      return isExact(def.element);
    case 'record':
      return isExact(def.valueType);
    case 'union':
      return def.options.every(isExact);
    case 'optional':
    case 'nullable':
      return isExact(def.innerType);
    default:
      return true;
  }
}

/** The checks of the schema itself, if it is a format, and those attached to it; undefined if one is not known here. */
function toChecks(def: z.core.$ZodTypeDef): Accepts[] | undefined {
  const own = 'check' in def ? [def as unknown as z.core.$ZodCheckDef] : [];
  return allOf([...own, ...(def.checks ?? []).map((check) => check._zod.def)].map(toCheck));
}

function toCheck(check: z.core.$ZodCheckDef): Accepts | undefined {
  const def = check as z.core.$ZodChecks['_zod']['def'];
  switch (def.check) {
    case 'string_format':
      return toPattern(def);
    case 'number_format':
      return def.format === 'safeint' ? Number.isSafeInteger : undefined;
    case 'greater_than': {
      const bound = Number(def.value);
      return def.inclusive ? (value) => Number(value) >= bound : (value) => Number(value) > bound;
    }
    case 'less_than': {
      const bound = Number(def.value);
      return def.inclusive ? (value) => Number(value) <= bound : (value) => Number(value) < bound;
    }
    // zod counts code points: a string has at least half as many as it has UTF-16 units, and at most as many.
    case 'min_length': {
      const { minimum } = def;
      return (value) => sizeOf(value) >= (minimum > 1 ? 2 * minimum : minimum);
    }
    case 'max_length': {
      const { maximum } = def;
      return (value) => sizeOf(value) <= maximum;
    }
    default:
      return undefined;
  }
}

/** Formats that ask nothing beyond their pattern. */
const PATTERNS: ReadonlySet<string> = new Set(['regex', 'datetime', 'date', 'uuid']);

function toPattern({ format, pattern }: z.core.$ZodCheckStringFormatDef): Accepts | undefined {
  if (pattern === undefined || pattern.global || pattern.sticky || !PATTERNS.has(format)) return undefined;
  return (value) => pattern.test(value as string);
}

function sizeOf(value: unknown): number {
  return (value as string | readonly unknown[]).length;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of a record; zod drops `__proto__`. */
function everyEntry(record: Readonly<Record<string, unknown>>, accepts: Accepts): boolean {
  for (const key in record) if (key === '__proto__' || !accepts(record[key])) return false;
  return true;
}

function oneOf(values: readonly unknown[]): Accepts {
  const [only] = values;
  if (values.length === 1) return (value) => value === only;
  const set = new Set(values);
  return (value) => set.has(value);
}

function every([first, ...rest]: readonly [Accepts, ...Accepts[]]): Accepts {
  return rest.reduce((before, accepts) => (value) => before(value) && accepts(value), first);
}

function allOf<T>(items: readonly (T | undefined)[]): T[] | undefined {
  return items.every((item) => item !== undefined) ? (items as T[]) : undefined;
}
