import type { DocumentRef, Pin, VerdictReason } from '@cleanslate/contracts';
import type { z } from 'zod';
import type { WorkflowDefinition } from './define-workflow.ts';
import type { ExecutorContract } from './executor-contract.ts';

/**
 * An extra type for a definition whose mappings must fit their executors: `unknown` if they fit or nothing is known,
 * otherwise a type that no mapping has, which the compiler then shows with its reason.
 */
export type Fitting<D extends WorkflowDefinition> = {
  readonly steps: { readonly [K in keyof D['steps']]: FittingStep<D, D['steps'][K]> };
};

type FittingStep<D extends WorkflowDefinition, S> = S extends {
  readonly executor: ExecutorContract<infer I, unknown>;
  readonly input: infer M;
}
  ? unknown extends I
    ? unknown
    : { readonly input: Missing<I, M> & { readonly [F in keyof M]: FittingField<D, I, F, M[F]> } }
  : unknown;

/** Fields without which the executor refuses its input. */
type Missing<I, M> = {
  readonly [F in RequiredKeys<I> as F extends keyof M ? never : F]: string | { readonly value: I[F] };
};
type RequiredKeys<I> = { [K in keyof I]-?: object extends Pick<I, K> ? never : K }[keyof I];

type FittingField<D extends WorkflowDefinition, I, F, M> = F extends keyof I
  ? M extends string
    ? string extends M
      ? unknown
      : Compare<Resolve<D, M>, I[F], M>
    : M extends { readonly value: infer V }
      ? Compare<V, I[F], 'value'>
      : unknown
  : { readonly CONTRACT_MISMATCH: 'the executor takes no such field' };

type Compare<Given, Taken, Path> = [Given] extends [Unknown]
  ? unknown
  : [Given] extends [Nowhere]
    ? { readonly CONTRACT_MISMATCH: 'this path leads nowhere'; readonly path: Path }
    : [ReadonlyDeep<Given>] extends [ReadonlyDeep<Taken>]
      ? unknown
      : { readonly CONTRACT_MISMATCH: 'given does not fit taken'; readonly given: Given; readonly taken: Taken };

/** Nothing is known about the source; there is no such key. */
type Unknown = { readonly __unknown: true };
type Nowhere = { readonly __nowhere: true };

type Resolve<D extends WorkflowDefinition, P extends string> = P extends 'input'
  ? InputOf<D>
  : P extends `input.${infer R}`
    ? Walk<InputOf<D>, R>
    : P extends 'pin'
      ? Pin
      : P extends `pin.${infer R}`
        ? Walk<Pin, R>
        : P extends 'feedback'
          ? VerdictReason[] | null
          : P extends `steps.${infer K}.output.${infer R}`
            ? FromStep<D, K, R>
            : P extends `steps.${infer K}.output`
              ? FromStep<D, K, ''>
              : Unknown;

type FromStep<D extends WorkflowDefinition, K, R extends string> = K extends keyof D['steps']
  ? D['steps'][K] extends { readonly executor: ExecutorContract<unknown, infer O> }
    ? unknown extends O
      ? Unknown
      : (R extends '' ? O : Walk<O, R>) | (D['steps'][K] extends { readonly when: object } ? null : never)
    : Unknown
  : Unknown;

type InputOf<D extends WorkflowDefinition> = {
  readonly [K in keyof z.input<D['input']>]: D extends { readonly documents: readonly (infer F)[] }
    ? K extends F
      ? DocumentRef
      : z.input<D['input']>[K]
    : z.input<D['input']>[K];
};

/** An absent value reaches its reader as null. */
type Walk<T, P extends string> = P extends `${infer K}.${infer R}` ? Walk<Step<T, K>, R> : Step<T, P>;
type Step<T, K extends string> = T extends readonly unknown[]
  ? Unknown
  : T extends null | undefined
    ? null
    : T extends Unknown | Nowhere
      ? T
      : K extends keyof T
        ? undefined extends T[K]
          ? Exclude<T[K], undefined> | null
          : T[K]
        : string extends keyof T
          ? Unknown
          : Nowhere;

/** Mutability is not part of a contract: what crosses is JSON. */
type ReadonlyDeep<T> = T extends readonly (infer E)[]
  ? readonly ReadonlyDeep<E>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T;
