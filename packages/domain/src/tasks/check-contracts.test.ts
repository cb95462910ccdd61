import { Verdict } from '@cleanslate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkContracts } from './check-contracts.ts';
import { defineWorkflow, type WorkflowDefinition } from './define-workflow.ts';
import type { ExecutorContract } from './executor-contract.ts';
import { findMisfit, type JsonSchema } from './fits-schema.ts';

function executor<I extends z.ZodType, O extends z.ZodType>(
  name: string,
  input: I,
  output: O,
): ExecutorContract<z.input<I>, z.output<O>> {
  const contract = { input: toSchema(input), output: toSchema(output) };
  return { role: 'poet', name: `haiku/${name}`, contract };
}

const toSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

const write = executor(
  'write',
  z.strictObject({ topic: z.string() }),
  z.strictObject({
    lines: z.array(z.string()),
    mood: z.enum(['glad', 'sad']),
    syllables: z.int(),
    note: z.string().optional(),
  }),
);
const check = executor(
  'check',
  z.strictObject({
    lines: z.array(z.string()),
    mood: z.enum(['glad', 'sad', 'odd']).optional(),
    note: z.string().nullish(),
  }),
  z.strictObject({ ok: z.boolean() }),
);
const count = executor('count', z.strictObject({ count: z.number() }), z.strictObject({}));
const head = { name: 'haiku', input: z.strictObject({ topic: z.string(), loud: z.boolean().optional() }) } as const;
const judgedBy = (output: z.ZodType) =>
  checkContracts({
    ...head,
    steps: {
      write: { executor: write, input: { topic: 'input.topic' } },
      check: { executor: executor('judge', z.strictObject({}), output), after: ['write'], input: {} },
    },
    validation: { step: 'check', rework: ['write'], maxRounds: 2 },
    result: 'steps.write.output',
  });
const first = { executor: write, input: { topic: 'input.topic' } } as const;

describe('a workflow of executors given whole', () => {
  test.each([
    ['its own words', z.strictObject({ ok: z.boolean() }), 'it.decision is missing'],
    ['no score', Verdict.omit({ score: true }), 'it.score is missing'],
    ['another decision', Verdict.extend({ decision: z.enum(['pass', 'fail']) }), 'it.decision may be "fail"'],
    ['a field of its own', Verdict.extend({ comment: z.string() }), 'it.comment is not taken'],
    ['reasons as text', Verdict.extend({ reasons: z.array(z.string()) }), 'it.reasons[] is string, not object'],
  ])('a validation step that puts out %s is no validator', (_, output, says) => {
    expect(() => judgedBy(output)).toThrow(`validation step "check": what haiku/judge puts out is no Verdict: ${says}`);
  });

  test('a validation step may put out a verdict, part of one with defaults, or what nothing is known about', () => {
    for (const output of [
      Verdict,
      Verdict.extend({ decision: z.literal('pass'), score: z.number().default(1) }),
      z.looseObject({}),
      z.record(z.string(), z.unknown()),
    ])
      judgedBy(output);
  });

  test('takes their roles and names from them', () => {
    const { plan } = defineWorkflow({
      ...head,
      steps: {
        write: first,
        check: {
          executor: check,
          after: ['write'],
          input: {
            lines: 'steps.write.output.lines',
            mood: 'steps.write.output.mood',
            note: 'steps.write.output.note',
          },
        },
        count: { executor: count, after: ['write'], input: { count: 'steps.write.output.syllables' } },
      },
      result: 'steps.write.output',
    });
    expect(plan.steps.map(({ role, executor }) => [role, executor])).toEqual([
      ['poet', 'haiku/write'],
      ['poet', 'haiku/check'],
      ['poet', 'haiku/count'],
    ]);
  });

  test('is refused by compiler and loader where an output is no input', () => {
    const define = () =>
      defineWorkflow({
        ...head,
        steps: {
          write: first,
          // @ts-expect-error syllables is a number
          check: { executor: check, after: ['write'], input: { lines: 'steps.write.output.syllables' } },
        },
        result: 'steps.check.output',
      });
    expect(define).toThrow(
      /step "check", field "lines" of haiku\/check: steps.write.output.syllables does not fit: it is integer, not array/,
    );
    expect(define).toThrow(expect.objectContaining({ code: 'CONTRACT_MISMATCH' }));
  });

  test('is refused where a path leads nowhere, a field is missing, and one is not taken', () => {
    const define = () =>
      defineWorkflow({
        ...head,
        steps: {
          // @ts-expect-error the input has no "theme"
          write: { executor: write, input: { topic: 'input.theme' } },
          // @ts-expect-error "lines" is missing
          check: { executor: check, after: ['write'], input: {} },
          // @ts-expect-error "what" is not taken
          count: { executor: count, after: ['write'], input: { count: { value: 1 }, what: 'pin' } },
        },
        result: 'steps.check.output',
      });
    expect(define).toThrow(/input.theme is not there: the input has no "theme"/);
    expect(define).toThrow(/step "check" gives haiku\/check no "lines"/);
    expect(define).toThrow(/step "count": haiku\/count takes no "what"/);
  });

  test('is refused where a value may be absent and its reader does not take null', () => {
    const withInput = (input: string) =>
      defineWorkflow({
        ...head,
        steps: {
          write: {
            executor: executor('loud', z.strictObject({ loud: z.boolean() }), z.strictObject({})),
            input: { loud: input },
          },
        },
        result: 'steps.write.output',
      });
    expect(() => withInput('input.loud')).toThrow(/input.loud does not fit: it is null, not boolean/);
    const skipping = () =>
      defineWorkflow({
        ...head,
        steps: {
          write: { ...first, when: { path: 'input.loud', equals: true } },
          // @ts-expect-error a skipped step gives null
          count: { executor: count, after: ['write'], input: { count: 'steps.write.output.syllables' } },
        },
        result: 'steps.write.output',
      });
    expect(skipping).toThrow(/it is null, not number/);
  });

  test('may mix them with executors by name, of which nothing is known', () => {
    const definition: WorkflowDefinition = {
      ...head,
      steps: {
        find: { role: 'retriever', executor: 'x/find', input: {} },
        count: { executor: count, after: ['find'], input: { count: 'steps.find.output.anything' } },
      },
      result: 'steps.count.output',
    };
    expect(() => checkContracts(definition)).not.toThrow();
  });

  test('names its role once', () => {
    const steps = { write: { ...first, role: 'painter' } };
    expect(() => defineWorkflow({ ...head, steps, result: 'steps.write.output' })).toThrow(/leave "role" out/);
    const byName = { write: { executor: 'haiku/write', input: {} } };
    expect(() => defineWorkflow({ ...head, steps: byName, result: 'steps.write.output' })).toThrow(
      /name its "role" too/,
    );
  });
});

describe('shapes fit', () => {
  const misfit = (source: z.ZodType, target: z.ZodType) => {
    const [from, to] = [toSchema(source), toSchema(target)];
    return findMisfit(from, to, { source: from, target: to });
  };
  const tree: z.ZodType = z.strictObject({
    value: z.string(),
    get children() {
      return z.array(tree);
    },
  });
  const wide = z.strictObject({ a: z.string(), b: z.union([z.string(), z.number(), z.null()]) });

  test.each<[string, z.ZodType, z.ZodType]>([
    ['themselves, recursive too', tree, tree],
    ['a wider union', z.union([z.string(), z.null()]), z.union([z.number(), z.string(), z.null()])],
    [
      'one branch of a union of objects',
      z.strictObject({ k: z.literal('a'), n: z.int() }),
      z.discriminatedUnion('k', [
        z.strictObject({ k: z.literal('b') }),
        z.strictObject({ k: z.literal('a'), n: z.number() }),
      ]),
    ],
    ['a record', z.strictObject({ a: z.number() }), z.record(z.string(), z.number())],
    ['anything', wide, z.unknown()],
    ['what has a default', z.strictObject({ a: z.string().default('x') }), z.strictObject({ a: z.string() })],
    ['a tuple an array', z.tuple([z.string(), z.string()]), z.array(z.string())],
  ])('%s', (_what, source, target) => expect(misfit(source, target)).toBeUndefined());

  test.each<[string, z.ZodType, z.ZodType, RegExp]>([
    ['a narrower union', wide, z.strictObject({ a: z.string(), b: z.string() }), /it\.b is number, not string/],
    ['an enum from any string', z.string(), z.enum(['a', 'b']), /any string, but only "a", "b"/],
    ['an enum from another', z.enum(['a', 'c']), z.enum(['a', 'b']), /"c", but only/],
    [
      'a deeper field',
      z.strictObject({ a: z.array(z.strictObject({ n: z.string() })) }),
      z.strictObject({ a: z.array(z.strictObject({ n: z.int() })) }),
      /it\.a\[\]\.n is string, not integer/,
    ],
    [
      'an optional field',
      z.strictObject({ a: z.string().optional() }),
      z.strictObject({ a: z.string() }),
      /it\.a may be missing/,
    ],
    [
      'a record in a closed object',
      z.record(z.string(), z.string()),
      z.strictObject({ a: z.string().optional() }),
      /may have any keys/,
    ],
    ['a key too many', wide, z.strictObject({ a: z.string() }), /it\.b is not taken/],
    ['a fraction as a whole number', z.number(), z.int(), /it is number, not integer/],
  ])('not: %s', (_what, source, target, why) => expect(misfit(source, target)).toMatch(why));

  test('whatever fits is taken: no value of the source is refused by the target', () => {
    const leaf = fc.constantFrom<z.ZodType>(
      z.string(),
      z.int(),
      z.number(),
      z.boolean(),
      z.null(),
      z.enum(['a', 'b']),
      z.literal('a'),
    );
    const schemas = fc.letrec<{ schema: z.ZodType }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf,
        tie('schema').map((item) => z.array(item)),
        fc.array(tie('schema'), { minLength: 2, maxLength: 3 }).map((options) => z.union(options)),
        fc
          .dictionary(fc.constantFrom('a', 'b', 'c'), fc.tuple(tie('schema'), fc.boolean()), { maxKeys: 3 })
          .map((shape) =>
            z.strictObject(
              Object.fromEntries(
                Object.entries(shape).map(([key, [type, opt]]) => [key, opt ? type.optional() : type]),
              ),
            ),
          ),
      ),
    })).schema;
    let fitting = 0;
    fc.assert(
      fc.property(schemas, schemas, fc.infiniteStream(fc.nat(1_000)), (source, target, dice) => {
        expect(misfit(source, source)).toBeUndefined();
        if (misfit(source, target) !== undefined) return;
        fitting++;
        for (let i = 0; i < 5; i++) {
          const value = sample(toSchema(source), dice);
          expect(target.safeParse(value).success, `${JSON.stringify(value)} fits, but is refused`).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
    expect(fitting).toBeGreaterThan(10);
  });
});

/** Some value of a schema as zod writes it. */
function sample(schema: JsonSchema, dice: Iterator<number>): unknown {
  const roll = () => Number(dice.next().value);
  const pick = <T>(items: readonly T[]): T => items[roll() % items.length] as T;
  const {
    anyOf,
    enum: values,
    ...rest
  } = schema as { anyOf?: JsonSchema[]; enum?: unknown[]; type?: string | string[] };
  // A union of plain types is written as a list of them.
  const type = Array.isArray(rest.type) ? pick(rest.type) : rest.type;
  if (anyOf) return sample(pick(anyOf), dice);
  if (values) return pick(values);
  if ('const' in schema) return schema['const'];
  if (type === 'array') return Array.from({ length: roll() % 3 }, () => sample(schema['items'] as JsonSchema, dice));
  if (type === 'object') {
    const required = (schema['required'] ?? []) as string[];
    return Object.fromEntries(
      Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
        .filter(([key]) => required.includes(key) || roll() % 2 === 0)
        .map(([key, property]) => [key, sample(property, dice)]),
    );
  }
  return { string: 'x', integer: 7, number: 1.5, boolean: true, null: null }[type ?? 'null'];
}
