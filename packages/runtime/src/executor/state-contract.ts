import { AppError } from '@cleanslate/contracts';
import { findForbiddenKey, isForbiddenKey } from '@cleanslate/domain';
import { z } from 'zod';

type JsonSchema = { readonly [key: string]: unknown };

/**
 * The JSON Schema of one side of an executor's contract. Throws `CONFIGURATION` if the schema names a forbidden key, or
 * leaves open which keys an object may have (`z.object`, `z.looseObject`; for outputs also `z.any` and `z.unknown`):
 * such a contract would let anything cross.
 */
export function toStateContract(executor: string, side: 'input' | 'output', schema: z.ZodType): JsonSchema {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const faults: string[] = [];
  walk(json, side, side === 'output', faults);
  if (faults.length === 0 && side === 'output') faults.push(...findTransformed(schema));
  if (faults.length === 0) return json;
  throw new AppError('CONFIGURATION', `executor ${executor}: ${faults.join('; ')}`, { details: { faults } });
}

/** What leaves a step is the schema's output: a transform may make anything, under any name. */
function findTransformed(schema: z.ZodType): string[] {
  const faults: string[] = [];
  walk(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }), 'output', true, faults);
  return faults.map((fault) =>
    fault.replace(HOLDS_ANYTHING, 'is transformed into what no schema shows: do it in `run`'),
  );
}

const HOLDS_ANYTHING = 'may hold anything: name its shape';

function walk(node: unknown, path: string, closed: boolean, faults: string[]): void {
  if (Array.isArray(node)) {
    node.forEach((item, index) => {
      walk(item, `${path}[${index}]`, closed, faults);
    });
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const schema = node as JsonSchema;
  if (closed && isOpen(schema)) faults.push(`${path} ${HOLDS_ANYTHING}`);
  if (schema['type'] === 'object') walkObject(schema, path, faults);
  for (const key of ['items', 'anyOf', 'oneOf', 'allOf', 'prefixItems', 'additionalProperties']) {
    walk(schema[key], path, closed, faults);
  }
  for (const group of ['properties', '$defs']) {
    for (const [key, child] of Object.entries((schema[group] ?? {}) as JsonSchema)) {
      walk(child, group === 'properties' ? `${path}.${key}` : path, closed, faults);
      if (closed && group === '$defs' && nestsItself(child, `#/$defs/${key}`)) faults.push(`${path} ${HOLDS_ANYTHING}`);
    }
  }
}

function walkObject(schema: JsonSchema, path: string, faults: string[]): void {
  for (const key of Object.keys((schema['properties'] ?? {}) as JsonSchema)) {
    if (isForbiddenKey(key)) faults.push(`${path}.${key} is a forbidden name: pass structured results only`);
  }
  for (const key of namedKeys(schema['propertyNames'])) {
    if (isForbiddenKey(key)) faults.push(`${path}.${key} is a forbidden name: pass structured results only`);
  }
  const isRecord = schema['propertyNames'] !== undefined;
  if (!isRecord && schema['additionalProperties'] !== false) {
    faults.push(`${path} does not refuse unknown keys: use z.strictObject`);
  }
}

/** The keys that a record names one by one: `z.record(z.enum([…]), …)`. */
function namedKeys(propertyNames: unknown): string[] {
  const {
    enum: names = [],
    const: name,
    anyOf = [],
  } = (propertyNames ?? {}) as { enum?: unknown[]; const?: unknown; anyOf?: unknown[] };
  return [...names, name, ...anyOf.flatMap(namedKeys)].filter((key) => typeof key === 'string');
}

/** A record of itself, like `z.json()`: any JSON at all, expressed as a shape. */
function nestsItself(node: unknown, ref: string): boolean {
  if (Array.isArray(node)) return node.some((item) => nestsItself(item, ref));
  if (typeof node !== 'object' || node === null) return false;
  const { propertyNames, additionalProperties, anyOf } = node as JsonSchema;
  const values = (additionalProperties ?? {}) as JsonSchema;
  return (propertyNames !== undefined && values['$ref'] === ref) || nestsItself(anyOf, ref);
}

const SHAPES = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'not'];
function isOpen(schema: JsonSchema): boolean {
  return !SHAPES.some((key) => schema[key] !== undefined);
}

/** Input keys that may hold anything, such as a result to be judged: their content is nobody's state yet. */
export function findOpenKeys(json: JsonSchema): ReadonlySet<string> {
  const properties = Object.entries((json['properties'] ?? {}) as JsonSchema);
  return new Set(properties.filter(([, child]) => isOpen((child ?? {}) as JsonSchema)).map(([key]) => key));
}

/** The first forbidden key in a value, as a path; records and unions accept names that no schema shows. */
export function findForbiddenName(value: object, what: string, open: ReadonlySet<string>): string | undefined {
  const closed = open.size === 0 ? value : Object.fromEntries(Object.entries(value).filter(([key]) => !open.has(key)));
  const path = findForbiddenKey(closed);
  return path === null ? undefined : `${what}.${path}`;
}
