import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  decodeMessage,
  defineMessage,
  ErrorBody,
  encodeMessage,
  isAppError,
  mismatch,
  TaskSubmit,
  toEnvelope,
} from './index.ts';

const shapes = z.fromJSONSchema({
  type: 'object',
  properties: {
    shape: {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, n: { type: 'integer' } }, required: ['kind', 'n'] },
        { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
      ],
    },
  },
  required: ['shape'],
});
const attributes = { id: 'm-1', source: '/tenants/acme', time: '2026-03-02T09:00:00.000Z', tenantid: 'acme' };
const submit = toEnvelope(TaskSubmit, attributes, { workflow: 'contract-review', input: {} });
const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Three versions of a message that was never sent: names were split, then amounts got their unit. */
const DishV3 = z.strictObject({
  first: z.string(),
  last: z.string(),
  prices: z.array(z.strictObject({ cents: z.int() })),
});
const Dish = defineMessage({
  name: 'dish.served',
  version: 3,
  minReader: 2,
  data: DishV3,
  upcasters: {
    1: (data) => {
      const { cook, euros } = z.strictObject({ cook: z.string(), euros: z.array(z.number()) }).parse(data);
      const [first = '', last = ''] = cook.split(' ');
      return { first, last, euros };
    },
    2: (data) => {
      const { euros, ...names } = z
        .object({ first: z.string(), last: z.string(), euros: z.array(z.number()) })
        .parse(data);
      return { ...names, prices: euros.map((euro) => ({ cents: Math.round(euro * 100) })) };
    },
  },
});
const served = (version: number, data: unknown, more: object = {}) =>
  encode({ ...submit, type: `dish.served.v${version}`, dataschema: undefined, ...more, data });
const decodeDish = (bytes: Uint8Array) => decodeMessage([TaskSubmit, Dish], bytes).envelope.data;

describe('decodeMessage', () => {
  it('gives back what was encoded, and which message it is', () => {
    const data = { workflow: 'contract-review', input: { 租户: ['😀', null, 1.5] }, key: 'k' };
    const { definition, envelope } = decodeMessage([Dish, TaskSubmit], encodeMessage(TaskSubmit, attributes, data));
    expect(definition).toBe(TaskSubmit);
    expect(envelope).toEqual({ ...submit, data });
  });

  it('keeps no attribute that the envelope does not know (CloudEvents lets anyone add some)', () => {
    const { envelope } = decodeMessage([TaskSubmit], encode({ ...submit, partitionkey: 'x' }));
    expect(envelope).toEqual(submit);
  });

  it.each([
    ['a string', '"text"', 'envelope: '],
    ['null', 'null', 'envelope: '],
    ['an array', '[]', 'envelope: '],
  ])('refuses %s', (_what, text, says) => {
    expect(refusalOf(new TextEncoder().encode(text))).toMatchObject({
      code: 'SCHEMA_MISMATCH',
      message: expect.stringContaining(says),
    });
  });

  it('refuses a type that is not read here, and says which are', () => {
    const { code, message } = refusalOf(encode({ ...submit, type: 'task.submitted.v1' }));
    expect(code).toBe('SCHEMA_MISMATCH');
    expect(message).toBe('type "task.submitted.v1" is not read here: send one of task.submit.v1, dish.served.v3');
  });

  it.each([
    'task.submit',
    'task.submit.v0',
    'task.submit.v01',
    'task.submit.v',
    'Task.Submit.v1',
    'task.submit.v99999',
    '',
  ])('refuses the type %j, which names no version', (type) =>
    expect(refusalOf(encode({ ...submit, type })).message).toContain('envelope.type: type must end in its version'),
  );

  it.each([
    ['envelope.tenantid', { tenantid: 'a.b' }],
    ['envelope.tenantid', { tenantid: undefined }],
    ['envelope.time', { time: '2026-03-02T09:00:00Z' }],
    ['envelope.time', { time: '2026-03-02T09:00:00.000+01:00' }],
    ['envelope.specversion', { specversion: '0.3' }],
    ['envelope.id', { id: '' }],
    ['envelope.attempt', { attempt: 0 }],
    ['envelope.sequence', { sequence: '-1' }],
    ['envelope.datacontenttype', { datacontenttype: 'text/xml' }],
    ['envelope.data', { data: undefined }],
    ['data.workflow', { data: { input: {} } }],
    ['data.input', { data: { workflow: 'w', input: [] } }],
    ['data.deadlineMs', { data: { workflow: 'w', input: {}, deadlineMs: 1.5 } }],
    ['"prioritty"', { data: { workflow: 'w', input: {}, prioritty: 'high' } }],
  ])('names the field: %s', (path, change) => {
    expect(refusalOf(encode({ ...submit, ...change }))).toMatchObject({
      code: 'SCHEMA_MISMATCH',
      disposition: 'terminal',
      message: expect.stringContaining(path),
    });
  });

  it.each([
    ['a field that is missing', z.strictObject({ name: z.string() }), {}, 'data.name: is missing'],
    [
      'a field of any type that is missing',
      z.fromJSONSchema({ type: 'object', properties: { any: {} }, required: ['any'] }),
      {},
      'data.any: is missing',
    ],
    [
      'a value of no type that is taken',
      z.strictObject({ at: z.union([z.int(), z.strictObject({ from: z.string() })]) }),
      { at: 'now' },
      'data.at: fits none of what is taken: expected number, received string; or expected object, received string',
    ],
    [
      'a kind that there is not',
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('a') }),
        z.strictObject({ kind: z.enum(['b', 'c']) }),
      ]),
      { kind: 'postgers' },
      'data.kind: is "postgers": it must be one of "a", "b", "c"',
    ],
    [
      'a kind that nobody named',
      z.discriminatedUnion('ok', [z.strictObject({ ok: z.literal(true) }), z.strictObject({ ok: z.literal(false) })]),
      {},
      'data.ok: is missing: it must be one of true, false',
    ],
    [
      'a kind that is long enough to be something else, which is not repeated',
      z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('a') })]),
      { kind: 'the patient said that …' },
      'data.kind: must be one of "a"',
    ],
    [
      'a kind that a JSON Schema has not',
      shapes,
      { shape: { kind: 'x' } },
      'data.shape: kind is "x": it must be one of "a", "b"',
    ],
    ['a kind of a JSON Schema that lacks a field', shapes, { shape: { kind: 'a' } }, 'data.shape: n is missing'],
    [
      'an object of no shape that is taken',
      z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]),
      {},
      'data: fits none of what is taken: a is missing; or b is missing',
    ],
  ])('says what to do about %s', (_, schema, value, message) => {
    const { error } = schema.safeParse(value);
    expect(error && mismatch('data', error, value).message).toBe(message);
  });

  it('names a field at depth by its whole path', () => {
    const error = refusalOf(served(3, { first: 'a', last: 'b', prices: [{ cents: 1 }, { cents: 'two' }] }));
    expect(error.message).toContain('data.prices.1.cents');
  });

  it('passes unreadable bytes on as what they are', () => {
    expect(refusalOf(new Uint8Array()).code).toBe('UNPARSEABLE');
    expect(refusalOf(encode({ ...submit, data: JSON.parse('{"__proto__":{}}') as unknown })).code).toBe('UNPARSEABLE');
  });

  it('stays short and sendable, however large and odd the fault is', () => {
    const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${i}-${'😀'.repeat(50)}`, 1]));
    const error = refusalOf(encode({ ...submit, data: { workflow: 'w', input: {}, ...keys } }));
    expect(JSON.stringify(error.toBody()).length).toBeLessThan(5_000);
    expect(error.message.isWellFormed()).toBe(true);
    expect(ErrorBody.safeParse(error.toBody()).success).toBe(true);
    const prices = Array.from({ length: 50_000 }, () => ({ cents: 'x' }));
    expect(refusalOf(served(3, { first: 'a', last: 'b', prices })).details?.['issues']).toHaveLength(10);
  });
});

describe('an older version', () => {
  const today = { first: 'Ana', last: 'Li', prices: [{ cents: 1250 }] };

  it('comes up step by step from the bytes as they were written', () => {
    const v1 = '{"cook":"Ana Li","euros":[12.5]}';
    const recorded = JSON.stringify({ ...submit, type: 'dish.served.v1', data: 0 }).replace('"data":0', `"data":${v1}`);
    expect(decodeDish(new TextEncoder().encode(recorded))).toEqual(today);
    expect(decodeDish(served(2, { first: 'Ana', last: 'Li', euros: [12.5] }))).toEqual(today);
    expect(decodeDish(served(3, today))).toEqual(today);
  });

  it('is judged by the current schema after the way up', () => {
    const error = refusalOf(served(2, { first: 'Ana', last: 'Li', euros: [1e300] }));
    expect(error).toMatchObject({ code: 'SCHEMA_MISMATCH', message: expect.stringContaining('data.prices.0.cents') });
  });

  it('that its upcaster cannot take is a mismatch, not a crash', () => {
    expect(refusalOf(served(1, { cook: 7 }))).toMatchObject({ code: 'SCHEMA_MISMATCH', disposition: 'terminal' });
    expect(refusalOf(served(1, null)).code).toBe('SCHEMA_MISMATCH');
  });

  it('without a way up is refused, and the missing step is named', () => {
    const { 2: second } = Dish.upcasters;
    const gap = { ...Dish, upcasters: second === undefined ? {} : { 2: second } };
    expect(() => decodeMessage([gap], served(1, { cook: 'Ana Li', euros: [] }))).toThrow(
      'no upcaster dish.served v1→v2',
    );
  });
});

describe('a newer version', () => {
  const more = { first: 'Ana', last: 'Li', prices: [{ cents: 1, currency: 'EUR' }], table: 4 };

  it('is for another reader, unless it says otherwise: nothing is wrong with it', () => {
    expect(refusalOf(served(4, more))).toMatchObject({ code: 'UNSUPPORTED_VERSION', disposition: 'pause' });
    expect(refusalOf(served(4, more, { minreader: 4 })).code).toBe('UNSUPPORTED_VERSION');
  });

  it('that names this reader as able loses only the keys that it does not know', () => {
    const known = { first: 'Ana', last: 'Li', prices: [{ cents: 1 }] };
    expect(decodeDish(served(4, more, { minreader: 3 }))).toEqual(known);
    expect(decodeDish(served(9, more, { minreader: 1 }))).toEqual(known);
  });

  it('is still judged: what is left must fit', () => {
    expect(refusalOf(served(4, { ...more, prices: [{ euros: 1 }] }, { minreader: 3 })).message).toContain(
      'data.prices.0.cents',
    );
  });

  it('is the only one whose unknown keys are dropped', () => {
    expect(refusalOf(served(3, more, { minreader: 3 })).message).toMatch(/table|currency/);
    expect(refusalOf(served(3, more, { minreader: 1 })).code).toBe('SCHEMA_MISMATCH');
  });
});

it('a sender says which older readers may read it, where there are any', () => {
  const data = { first: 'a', last: 'b', prices: [] };
  expect(toEnvelope(Dish, attributes, data)).toMatchObject({ type: 'dish.served.v3', minreader: 2 });
  expect(submit).not.toHaveProperty('minreader');
});

function refusalOf(bytes: Uint8Array) {
  try {
    decodeMessage([TaskSubmit, Dish], bytes);
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error('was accepted');
}
