import type { SourceParam, SourceParams } from '@cleanslate/domain';
import { paramError } from '../source-error.ts';

/** A declared parameter, with limits on its values. */
export type DeclaredParam = SourceParam & {
  /** Longest text. Default 500. */
  readonly maxLength?: number;
  /** Only these. */
  readonly oneOf?: readonly string[];
  readonly default?: string | number | boolean;
};

/** Every source that is searched by words has this one. */
export const QUERY_PARAM: DeclaredParam = {
  name: 'query',
  type: 'string',
  required: true,
  description: 'the question in plain words',
  maxLength: 2_000,
};

/**
 * Values of the declared parameters, by name. Throws `INVALID_INPUT` naming the parameter; unknown ones are refused.
 */
export function readParams(source: string, declared: readonly DeclaredParam[], given: SourceParams): SourceParams {
  const known = new Map(declared.map((param) => [param.name, param]));
  for (const name of Object.keys(given)) {
    if (!known.has(name)) throw paramError(source, name, `it takes ${[...known.keys()].join(', ') || 'none'}`);
  }
  const values: [string, SourceParams[string]][] = [];
  for (const param of declared) {
    const value = Object.hasOwn(given, param.name) ? given[param.name] : param.default;
    if (value !== undefined) values.push([param.name, check(source, param, value)]);
    else if (param.required) throw paramError(source, param.name, `is missing: ${param.description}`);
  }
  return Object.fromEntries(values);
}

function check(source: string, param: DeclaredParam, value: SourceParams[string]): SourceParams[string] {
  const problem = findProblem(param, value);
  if (problem !== undefined) throw paramError(source, param.name, problem);
  return value;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function findProblem({ type, maxLength = 500, oneOf }: DeclaredParam, value: SourceParams[string]): string | undefined {
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (type === 'integer') return Number.isSafeInteger(value) ? undefined : 'must be a whole number';
  if (type === 'number') return Number.isFinite(value) ? undefined : 'must be a number';
  if (typeof value !== 'string') return 'must be text';
  if (type === 'date')
    return DATE.test(value) && !Number.isNaN(Date.parse(value)) ? undefined : 'must be a date such as 2024-08-01';
  if (value.trim() === '') return 'must not be empty';
  if (value.length > maxLength) return `must have at most ${maxLength} characters`;
  if (value.includes('\0') || !value.isWellFormed()) return 'must be well-formed text without NUL';
  if (oneOf !== undefined && !oneOf.includes(value)) return `must be one of ${oneOf.join(', ')}`;
  return undefined;
}
