import type { FORBIDDEN_KEYS } from '@cleanslate/domain';
import type { z } from 'zod';

type ForbiddenName = (typeof FORBIDDEN_KEYS)[number];
/** Deep enough for any reasonable contract; anything deeper is found when the executor is defined. */
type Deeper = {
  readonly 0: never;
  readonly 1: 0;
  readonly 2: 1;
  readonly 3: 2;
  readonly 4: 3;
  readonly 5: 4;
  readonly 6: 5;
};
type Depth = keyof Deeper;

/** The forbidden names in a value's type; never if there are none. A record's keys are any string and name nothing. */
type NamesIn<T, D extends Depth> = [D] extends [never]
  ? never
  : T extends readonly (infer Item)[]
    ? NamesIn<Item, Deeper[D]>
    : T extends object
      ? string extends keyof T
        ? never
        : (keyof T & ForbiddenName) | { [K in keyof T]-?: NamesIn<T[K], Deeper[D]> }[keyof T]
      : never;

/**
 * No further argument for schemas without forbidden names; otherwise one that nobody can pass, with the names in its
 * type.
 */
export type CleanContract<I extends z.ZodType, O extends z.ZodType> = [
  NamesIn<z.infer<I>, 6> | NamesIn<z.infer<O>, 6>,
] extends [never]
  ? readonly []
  : readonly [{ readonly forbiddenName: NamesIn<z.infer<I>, 6> | NamesIn<z.infer<O>, 6>; readonly never: never }];
