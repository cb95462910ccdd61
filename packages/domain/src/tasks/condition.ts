import { type Condition, canonicalJson } from '@cleanslate/contracts';
import { resolveMapping } from './mapping.ts';
import type { Aggregate, Step } from './state.ts';

/** Total: a path that leads nowhere is null, and a comparison of anything but numbers is false. */
export function holds(state: Aggregate, condition: Condition, step: Step): boolean {
  if ('all' in condition) return condition.all.every((each) => holds(state, each, step));
  if ('any' in condition) return condition.any.some((each) => holds(state, each, step));
  if ('not' in condition) return !holds(state, condition.not, step);
  const value = resolveMapping(state, { from: condition.path }, step);
  if ('exists' in condition) return (value !== null) === condition.exists;
  if ('in' in condition) return condition.in.some((each) => canonicalJson(each) === canonicalJson(value));
  if ('atLeast' in condition) return typeof value === 'number' && value >= condition.atLeast;
  if ('atMost' in condition) return typeof value === 'number' && value <= condition.atMost;
  return canonicalJson(condition.equals ?? null) === canonicalJson(value);
}

/** Every path a condition reads. */
export function pathsOf(condition: Condition): readonly string[] {
  if ('all' in condition) return condition.all.flatMap(pathsOf);
  if ('any' in condition) return condition.any.flatMap(pathsOf);
  if ('not' in condition) return pathsOf(condition.not);
  return [condition.path];
}
