import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { readRecordedMessages } from '../scripts/recorded-messages.ts';
import { checkJson } from './check-json.ts';
import { AttemptRef, listMessages, typeOf } from './index.ts';

type Change = (value: unknown, anything: unknown) => unknown;

const CHANGES: readonly Change[] = [
  (_, anything) => anything,
  (value, anything) => (isObject(value) ? { ...value, added: anything } : anything),
  (value) => (isObject(value) ? Object.fromEntries(Object.entries(value).slice(1)) : `${String(value)} `),
  (value, anything) => (Array.isArray(value) ? [...value, anything] : [value]),
  (value) => (typeof value === 'number' ? -value : ''),
  (value) => (typeof value === 'number' ? value + 0.5 : null),
  (value) => (typeof value === 'string' ? value.toUpperCase().repeat(40) : Number.MAX_SAFE_INTEGER + 1),
];

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Changes the n-th part of a value, counted over all of them. */
function changePart(value: unknown, n: number, change: (part: unknown) => unknown): unknown {
  let left = n;
  const walk = (part: unknown): unknown => {
    if (left-- === 0) return change(part);
    if (Array.isArray(part)) return part.map(walk);
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, walk(item)]));
  };
  return walk(value);
}

function expectSame(schema: z.ZodType, value: unknown): void {
  const { success, data, error } = schema.safeParse(value);
  const checked = checkJson(schema, value);
  expect({ success: checked.success, data: checked.data }).toStrictEqual({ success, data });
  expect(checked.error?.issues).toEqual(error?.issues);
}

const recorded = readRecordedMessages().map(({ name, type, bytes }) => {
  const { data } = JSON.parse(Buffer.from(bytes).toString()) as { data: unknown };
  return { name, definition: listMessages().find((message) => typeOf(message) === type), data };
});

describe.each(recorded.flatMap(({ name, definition, data }) => (definition ? [{ name, definition, data }] : [])))(
  '$name',
  ({ definition, data }) => {
    test('is judged as zod judges it, whatever part of it is another', () => {
      expectSame(definition.data, data);
      const parts = JSON.stringify(data).split(/[,[{]/).length;
      const anyChange = fc.record({ n: fc.nat(parts), change: fc.constantFrom(...CHANGES), anything: fc.jsonValue() });
      fc.assert(
        fc.property(anyChange, ({ n, change, anything }) => {
          expectSame(
            definition.data,
            changePart(data, n, (part) => change(part, anything)),
          );
        }),
      );
    });
  },
);

test.each(['step.run', 'claim.with_report', 'claim.reply', 'claim.request', 'worker.heartbeat', 'task.submit'])(
  '%s takes the short way: nothing of it is copied',
  (name) => {
    const { definition, data } = recorded.find((message) => message.definition?.name === name) ?? {};
    if (definition === undefined) throw new Error(`${name} is not recorded`);
    const judged = vi.spyOn(definition.data, 'safeParse');
    expect(checkJson(definition.data, data).data).toBe(data);
    expect(judged).not.toHaveBeenCalled();
    judged.mockRestore();
  },
);

const LOOSE = z.object({ a: z.string().optional() });

test.each([
  ['a default', z.strictObject({ a: z.string().default('x') }), {}],
  ['a transform', z.strictObject({ a: z.string().transform(Number) }), { a: '7' }],
  ['a trimmed text', z.strictObject({ a: z.string().trim() }), { a: ' x ' }],
  ['a refinement', z.strictObject({ a: z.string().refine((text) => text !== 'x') }), { a: 'x' }],
  ['a refined object', z.strictObject({ a: z.string() }).refine(() => false), { a: 'x' }],
  ['a coerced number', z.strictObject({ a: z.coerce.number() }), { a: '7' }],
  ['a dropped key', z.object({ a: z.string() }), { a: 'x', b: 1 }],
  ['a key that stays', z.looseObject({ a: z.string() }), { a: 'x', b: 1 }],
  ['a key that could reach a prototype', z.record(z.string(), z.unknown()), JSON.parse('{"__proto__":1,"a":2}')],
  ['keys of a form', z.record(z.string().regex(/^a$/), z.number()), { b: 1 }],
  ['a missing key of any value', z.strictObject({ a: z.unknown() }), {}],
  ['an inherited name', z.strictObject({ constructor: z.unknown() }), {}],
  ['a foreign key in the place of an inherited name', z.strictObject({ constructor: z.unknown() }), { evil: 1 }],
  ['code points', z.strictObject({ a: z.string().min(3).max(3) }), { a: '😀😀' }],
  ['too few code points', z.string().min(2), '😀'],
  ['just as many code points', z.string().max(2), '😀😀'],
  ['a format with a check of its own', z.strictObject({ a: z.url() }), { a: 'no url' }],
  ['an email', z.email(), 'nobody'],
  ['a day that is none', z.iso.date(), '2026-02-30'],
  ['a pattern with a memory', z.string().regex(/a/g), 'a'],
  ['an integer beyond the safe ones', z.int(), 2 ** 53],
  ['no number', z.number(), Number.NaN],
  ['null', z.strictObject({ a: z.string().nullable(), b: z.int().optional() }), { a: null }],
  ['null where a key may be missing', z.strictObject({ b: z.int().optional() }), { b: null }],
  ['one of two', z.union([z.string(), z.array(z.int()).min(1)]), []],
  ['one of two that knows fewer keys', z.union([LOOSE, z.object({ a: z.string(), b: z.int() })]), { a: 'x', b: 1 }],
  ['the same deeper', z.union([z.array(LOOSE), z.array(z.strictObject({ b: z.int() }))]), [{ b: 1 }]],
  ['both of two of which it must be one', z.xor([z.string(), z.string().min(2)]), 'abcd'],
  [
    'a refined key that may be missing',
    z.strictObject({
      a: z
        .string()
        .optional()
        .refine(() => false),
    }),
    { a: 'x' },
  ],
  ['a list for an object', AttemptRef, []],
] as const)('%s is zod’s to judge', (_, schema, value) => {
  expectSame(schema, value);
  expectSame(schema, value);
});
