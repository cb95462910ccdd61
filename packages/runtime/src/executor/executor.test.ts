import { StepReport, Verdict } from '@cleanslate/contracts';
import { FORBIDDEN_KEYS } from '@cleanslate/domain';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { assertRemembersNothing, fakeStepContext } from '../testing.ts';
import { defineExecutor } from './executor.ts';
import { noopExecutor } from './noop.ts';

const none = z.strictObject({});
const define = (
  input: z.ZodType,
  output: z.ZodType = none,
  more: { name?: string; role?: string; timeoutMs?: number } = {},
) => defineExecutor({ role: 'analyzer', name: 'test/step', input, output, run: () => ({}), ...more });

describe('a contract is refused', () => {
  test.each([
    ...FORBIDDEN_KEYS,
    'Messages',
    'raw-chunks',
    'rawChunks',
    'scratch_pad',
    'ｔｈｏｕｇｈｔｓ',
    'rea\u200bsoning',
  ])('that names %s, at any depth', (key) => {
    const item = z.strictObject({ [key]: z.string().optional() });
    for (const schema of [
      item,
      z.strictObject({ a: z.array(item) }),
      z.strictObject({ a: z.record(z.string(), z.union([z.string(), item])) }),
      z.strictObject({ a: z.lazy(() => z.tuple([item])) }),
    ]) {
      expect(() => define(schema)).toThrow(/forbidden name/);
      expect(() => define(none, schema)).toThrow(/forbidden name/);
    }
  });

  test('that does not say which keys there are', () => {
    for (const open of [z.object({ a: z.string() }), z.looseObject({}), z.strictObject({ a: z.object({}) })]) {
      expect(() => define(open)).toThrow(/does not refuse unknown keys/);
      expect(() => define(none, open)).toThrow(/does not refuse unknown keys/);
    }
    expect(() => define(none, z.strictObject({ a: z.unknown() }))).toThrow(/output.a may hold anything/);
    expect(() => define(none, z.strictObject({ a: z.array(z.any()) }))).toThrow(/may hold anything/);
    expect(() => define(z.strictObject({ judged: z.unknown() }))).not.toThrow();
  });

  test('whose record names a forbidden key', () => {
    for (const keys of [
      z.enum(['thoughts', 'a']),
      z.literal('scratchpad'),
      z.union([z.literal('a'), z.literal('history')]),
    ]) {
      const schema = z.strictObject({ a: z.array(z.record(keys, z.string()).optional()) });
      expect(() => define(schema)).toThrow(/forbidden name/);
      expect(() => define(none, schema)).toThrow(/forbidden name/);
    }
    expect(() => define(none, z.strictObject({ a: z.record(z.enum(['high', 'low']), z.number()) }))).not.toThrow();
  });

  test('whose output is any JSON, or is made of it by a transform', () => {
    const tree = z.strictObject({
      name: z.string(),
      get kids(): z.ZodArray {
        return z.array(tree);
      },
    });
    expect(() => define(none, z.strictObject({ tree }))).not.toThrow();
    expect(() => define(none, z.strictObject({ a: z.json() }))).toThrow(
      /output may hold anything|output.a may hold anything/,
    );
    const wrapped = z.string().transform((text) => ({ [`thought_${text}`]: text }));
    const smuggling = z.strictObject({ a: z.string() }).transform((value) => ({ ...value, extra: 1 }));
    for (const output of [z.strictObject({ a: z.strictObject({ b: wrapped }) }), smuggling]) {
      expect(() => define(none, output)).toThrow(/transformed into what no schema shows: do it in `run`/);
      expect(() => define(output)).not.toThrow();
    }
  });

  test.each([
    [
      'an optional key of an optional object',
      z.strictObject({ b: z.strictObject({ messages: z.string().optional() }).optional() }).optional(),
    ],
    ['a member of a union', z.union([z.string(), z.strictObject({ messages: z.string() })])],
    ['the rest of a tuple', z.tuple([z.string()]).rest(z.strictObject({ messages: z.string() }))],
    ['the values of a record', z.record(z.string(), z.array(z.strictObject({ messages: z.string() })))],
    ['a default, nullable and lazy', z.lazy(() => z.strictObject({ messages: z.string() }).nullable().default(null))],
    ['an open object in a union', z.union([z.string(), z.object({ x: z.string() })])],
    ['passthrough', z.array(z.object({ x: z.string() }).loose())],
    ['a catch-all', z.object({ x: z.string() }).catchall(z.string())],
  ])('in %s, and says where and what to do', (_name, a) => {
    for (const side of [(schema: z.ZodType) => define(schema), (schema: z.ZodType) => define(none, schema)])
      expect(() => side(z.strictObject({ a }))).toThrow(/put\.a.*(?:pass structured results only|use z\.strictObject)/);
  });

  test('under a name, role or timeout that can not be', () => {
    expect(() => define(none, none, { name: 'No Name' })).toThrow(/No Name/);
    expect(() => define(none, none, { role: 'a.b' })).toThrow(/role/);
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1.5]) {
      expect(() => define(none, none, { timeoutMs })).toThrow(/timeoutMs/);
    }
  });

  test('never for the shapes the platform itself uses', () => {
    expect(() => define(z.strictObject({ report: StepReport.data }), Verdict)).not.toThrow();
    expect(noopExecutor('analyzer').contract.output).toMatchObject({ type: 'object', additionalProperties: false });
  });
});

test('two commands in both orders give the same; module state is found', async () => {
  const schema = z.strictObject({ n: z.number() });
  const clean = defineExecutor({
    role: 'analyzer',
    name: 'test/clean',
    input: schema,
    output: schema,
    run: ({ input }) => input,
  });
  await assertRemembersNothing(clean, [{ n: 1 }, { n: 2 }]);
  let last = 0;
  const leaking = defineExecutor({
    role: 'analyzer',
    name: 'test/leaking',
    input: schema,
    output: schema,
    run: ({ input }) => {
      const output = { n: input.n + last };
      last = input.n;
      return output;
    },
  });
  await expect(assertRemembersNothing(leaking, [{ n: 1 }, { n: 2 }])).rejects.toThrow(/remembers something/);
});

test('an output with a key the schema does not name is refused, whatever the type system was told', async () => {
  const cheating = defineExecutor({
    role: 'analyzer',
    name: 'test/cheat',
    input: none,
    output: z.strictObject({ a: z.string() }),
    run: () => ({ a: 'x', thoughts: 'hidden' }) as { a: string },
  });
  await expect(cheating.execute(fakeStepContext(), {})).rejects.toMatchObject({ code: 'OUTPUT_CONTRACT' });
});

test('names no schema shows are refused on both sides; what is there to be judged may hold them', async () => {
  const record = z.strictObject({ counts: z.record(z.string(), z.string()), judged: z.unknown().optional() });
  const echo = defineExecutor({
    role: 'analyzer',
    name: 'test/echo',
    input: record,
    output: z.strictObject({ counts: record.shape.counts }),
    run: ({ input }) => ({ counts: input.counts }),
  });
  const judged = { thoughts: 'of another agent' };
  await expect(echo.execute(fakeStepContext(), { counts: { a: '1' }, judged })).resolves.toEqual({
    counts: { a: '1' },
  });
  await expect(echo.execute(fakeStepContext(), { counts: { scratchpad: 'x' } })).rejects.toMatchObject({
    code: 'SCHEMA_MISMATCH',
  });
  const leaking = defineExecutor({
    role: 'analyzer',
    name: 'test/leak',
    input: none,
    output: z.strictObject({ notes: z.record(z.string(), z.string()) }),
    run: () => ({ notes: { chainOfThought: 'hidden' } }),
  });
  await expect(leaking.execute(fakeStepContext(), {})).rejects.toMatchObject({ code: 'OUTPUT_CONTRACT' });
});

test('the type system refuses a forbidden name too, at any depth', () => {
  const deep = z.strictObject({ items: z.array(z.strictObject({ thoughts: z.string() })) });
  const base = { role: 'analyzer', name: 'test/types' };
  // @ts-expect-error: an input may not name thoughts
  expect(() => defineExecutor({ ...base, input: deep, output: none, run: () => ({}) })).toThrow(/forbidden name/);
  // @ts-expect-error: nor may an output
  expect(() => defineExecutor({ ...base, input: none, output: deep, run: () => ({ items: [] }) })).toThrow(
    /forbidden name/,
  );
});

test('G9: keys that reach a prototype cross on neither side', async () => {
  const counts = z.strictObject({ counts: z.record(z.string(), z.unknown()).optional() });
  const output = z.strictObject({ counts: z.record(z.string(), z.string()) });
  const hostile: { [key: string]: unknown } = JSON.parse(
    '{"__proto__": {"isAdmin": true}, "constructor": {"prototype": {"x": 1}}, "counts": {"__proto__": "x"}}',
  );
  const echo = defineExecutor({
    role: 'analyzer',
    name: 'test/proto',
    input: counts,
    output,
    run: () => ({ counts: JSON.parse('{"__proto__": "x", "constructor": "y", "a": "z"}') }),
  });
  await expect(echo.execute(fakeStepContext(), hostile)).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' });
  const given = await echo.execute(fakeStepContext(), {}).catch((error: { code: string }) => ({ refused: error.code }));
  const kept = 'counts' in given ? given['counts'] : {};
  expect(Object.getPrototypeOf(kept)).toBe(Object.prototype);
  expect(JSON.stringify(given)).not.toContain('__proto__');
  expect('isAdmin' in {}).toBe(false);
});

describe('an output of which nothing would be left is refused, and the error names it', () => {
  class Found {
    readonly #n = 1;
    get count(): number {
      return this.#n;
    }
  }
  const loose = z.strictObject({
    a: z.strictObject({
      n: z.number().optional(),
      list: z.array(z.strictObject({ n: z.number().optional() })).optional(),
    }),
  });
  const run = (a: unknown) =>
    defineExecutor({
      role: 'analyzer',
      name: 'test/emptied',
      input: none,
      output: loose,
      run: () => ({ a }) as z.infer<typeof loose>,
    }).execute(fakeStepContext(), {});

  test.each([
    ['a Date', new Date(0), 'output.a is a Date'],
    ['a Map', new Map([['n', 1]]), 'output.a is a Map'],
    ['a Set in a list', { list: [{ n: 1 }, new Set([1])] }, 'output.a.list.1 is a Set'],
    ['a promise that nobody awaited', Promise.resolve({ n: 1 }), 'output.a is a Promise'],
    ['an object with private fields', new Found(), 'output.a is a Found'],
  ])('%s', async (_name, a, path) => {
    await expect(run(a)).rejects.toMatchObject({
      code: 'OUTPUT_CONTRACT',
      message: expect.stringContaining(`${path}, of which nothing would be left`),
    });
  });

  test('the whole output, where it is one', async () => {
    const all = defineExecutor({
      role: 'analyzer',
      name: 'test/emptied',
      input: none,
      output: z.strictObject({ n: z.number().optional() }),
      run: () => new Date(0) as object,
    });
    await expect(all.execute(fakeStepContext(), {})).rejects.toMatchObject({
      code: 'OUTPUT_CONTRACT',
      message: expect.stringContaining('output is a Date'),
    });
  });

  test('never what is empty or carries what the schema names', async () => {
    class Counted {
      readonly n = 1;
    }
    for (const a of [{}, Object.create(null), { list: [] }]) expect(await run(a)).toEqual({ a });
    expect(await run(new Counted())).toEqual({ a: { n: 1 } });
  });
});
