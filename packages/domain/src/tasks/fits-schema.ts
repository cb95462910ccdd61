/** A JSON Schema as zod writes it. */
export type JsonSchema = { readonly [key: string]: unknown };

type Side = { readonly schema: JsonSchema; readonly root: JsonSchema };

/** A recursive schema need not be compared to a greater depth. */
const MAX_DEPTH = 30;

/**
 * Why a value of `source` may not be one of `target`; undefined if it fits, or if this can't tell. It compares shapes
 * (types, fields, values of enums); lengths, patterns and ranges are left to the executor's own check of each input.
 */
export function findMisfit(
  source: JsonSchema,
  target: JsonSchema,
  roots: { source: JsonSchema; target: JsonSchema },
): string | undefined {
  return misfit({ schema: source, root: roots.source }, { schema: target, root: roots.target }, 'it', 0);
}

function misfit(from: Side, to: Side, path: string, depth: number): string | undefined {
  const source = dereference(from);
  const target = dereference(to);
  if (depth > MAX_DEPTH || isOpen(source.schema) || isOpen(target.schema)) return undefined;
  const given = branchesOf(source);
  const taken = branchesOf(target);
  for (const branch of given) {
    const faults = taken.map((candidate) => misfitOfOne(branch, candidate, path, depth));
    if (!faults.includes(undefined)) return bestOf(faults);
  }
  return undefined;
}

/** Of several branches that refuse, the one that got farthest explains most. */
function bestOf(faults: readonly (string | undefined)[]): string | undefined {
  return [...faults].sort((a, b) => (b?.split('.').length ?? 0) - (a?.split('.').length ?? 0))[0];
}

function misfitOfOne(source: Side, target: Side, path: string, depth: number): string | undefined {
  const values = valuesOf(source.schema);
  const allowed = valuesOf(target.schema);
  if (allowed !== undefined) {
    const strange = values?.find((value) => !allowed.includes(value));
    if (values !== undefined && strange === undefined) return undefined;
    const what = values === undefined ? `any ${typeOf(source.schema)}` : JSON.stringify(strange);
    return `${path} may be ${what}, but only ${allowed.map((value) => JSON.stringify(value)).join(', ')} is taken`;
  }
  const given = typeOf(source.schema);
  const taken = typeOf(target.schema);
  if (given === undefined || taken === undefined) return undefined;
  if (given !== taken && !(given === 'integer' && taken === 'number')) return `${path} is ${given}, not ${taken}`;
  if (given === 'object') return misfitOfObjects(source, target, path, depth);
  if (given === 'array') return misfitOfArrays(source, target, path, depth);
  return undefined;
}

function misfitOfObjects(source: Side, target: Side, path: string, depth: number): string | undefined {
  const given = propertiesOf(source.schema);
  const taken = propertiesOf(target.schema);
  for (const key of requiredOf(target.schema)) {
    if (given[key] === undefined) return `${path}.${key} is missing`;
    if (!isAlwaysThere(source.schema, key)) return `${path}.${key} may be missing`;
  }
  const rest = target.schema['additionalProperties'];
  for (const [key, schema] of Object.entries(given)) {
    const wanted = taken[key] ?? rest;
    if (wanted === false) return `${path}.${key} is not taken`;
    if (!isSchema(wanted)) continue;
    const fault = misfit(
      { ...source, schema: schema ?? {} },
      { ...target, schema: wanted },
      `${path}.${key}`,
      depth + 1,
    );
    if (fault !== undefined) return fault;
  }
  const others = source.schema['additionalProperties'];
  if (!isSchema(others)) return undefined;
  if (rest === false) return `${path} may have any keys, but only ${Object.keys(taken).join(', ')} are taken`;
  return isSchema(rest)
    ? misfit({ ...source, schema: others }, { ...target, schema: rest }, `${path}.*`, depth + 1)
    : undefined;
}

function misfitOfArrays(source: Side, target: Side, path: string, depth: number): string | undefined {
  const wanted = target.schema['items'];
  if (!isSchema(wanted)) return undefined;
  const tuple = source.schema['prefixItems'];
  const given = [...(Array.isArray(tuple) ? tuple : []), source.schema['items']].filter(isSchema);
  for (const schema of given) {
    const fault = misfit({ ...source, schema }, { ...target, schema: wanted }, `${path}[]`, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * The schema at a path of keys; `{ nullable }` if an absent value reaches the reader as null. Undefined: there is no
 * such key.
 */
export function schemaAt(
  schema: JsonSchema,
  path: readonly string[],
): { readonly schema: JsonSchema; readonly nullable: boolean } | undefined {
  let current: Side = dereference({ schema, root: schema });
  let nullable = false;
  for (const key of path) {
    const branches = branchesOf(current);
    const objects = branches.filter((branch) => typeOf(branch.schema) === 'object');
    if (branches.some((branch) => isOpen(branch.schema) || typeOf(branch.schema) === 'array'))
      return { schema: {}, nullable: false };
    const having = objects.filter((branch) => propertiesOf(branch.schema)[key] !== undefined);
    const [holder] = having;
    if (holder === undefined) {
      const record = objects.find((branch) => isSchema(branch.schema['additionalProperties']));
      return record === undefined ? undefined : { schema: {}, nullable: false };
    }
    nullable ||= having.length < branches.length || having.some((branch) => !isAlwaysThere(branch.schema, key));
    const choices = having.map((branch) => propertiesOf(branch.schema)[key]).filter(isSchema);
    current = dereference({ schema: choices.length === 1 ? (choices[0] ?? {}) : { anyOf: choices }, root: schema });
  }
  return { schema: current.schema, nullable };
}

function dereference(side: Side): Side {
  let current = side.schema;
  for (let hops = 0; hops < MAX_DEPTH; hops++) {
    const ref = current['$ref'];
    if (typeof ref !== 'string') break;
    if (ref === '#') current = side.root;
    else {
      const found = definitionsOf(side.root)[ref.replace('#/$defs/', '')];
      if (!isSchema(found)) return { schema: {}, root: side.root };
      current = found;
    }
  }
  return { schema: current, root: side.root };
}

/** The alternatives of a schema: the schema itself if it has none. */
function branchesOf(side: Side): readonly Side[] {
  const { schema, root } = side;
  const alternatives = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(alternatives))
    return alternatives.filter(isSchema).flatMap((branch) => branchesOf(dereference({ schema: branch, root })));
  const { type } = schema;
  return Array.isArray(type) ? type.map((one) => ({ schema: { ...schema, type: one }, root })) : [side];
}

/** No shape that could be compared: `z.unknown()`, an intersection. */
function isOpen(schema: JsonSchema): boolean {
  return ['type', 'anyOf', 'oneOf', 'enum', 'const', '$ref'].every((key) => schema[key] === undefined);
}

function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
}

function typeOf(schema: JsonSchema): string | undefined {
  const { type } = schema;
  return typeof type === 'string' ? type : undefined;
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema | undefined>> {
  return isSchema(schema['properties']) ? (schema['properties'] as Record<string, JsonSchema>) : {};
}

function definitionsOf(schema: JsonSchema): JsonSchema {
  return isSchema(schema['$defs']) ? schema['$defs'] : {};
}

function requiredOf(schema: JsonSchema): readonly string[] {
  return Array.isArray(schema['required']) ? schema['required'] : [];
}

/** A default is filled in before anyone reads the field. */
function isAlwaysThere(schema: JsonSchema, key: string): boolean {
  const property = propertiesOf(schema)[key];
  return requiredOf(schema).includes(key) || (property !== undefined && 'default' in property);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
