import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPointer } from './json-pointer.ts';
import { readJson } from './read-json.ts';
import { type RecordMapping, toHit } from './record-to-hit.ts';
import { fillTemplate, namesOf, parseTemplate } from './template.ts';
import { toUtcTime } from './to-utc-time.ts';

const json = (text: string) => readJson('test', new TextEncoder().encode(text));
const fill = (text: string, record: unknown) => fillTemplate(parseTemplate(text), record);
const map = (fields: Partial<Record<keyof RecordMapping, string>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, text]) => [key, parseTemplate(text)]),
  ) as unknown as RecordMapping;

describe('JSON of a source', () => {
  it('C11, C25: keeps every digit and every zero of a number', () => {
    expect(json('{"id":9007199254740993,"n":12345678901234567890.12,"p":12.10,"x":7,"s":"000001"}')).toEqual({
      id: '9007199254740993',
      n: '12345678901234567890.12',
      p: '12.10',
      x: 7,
      s: '000001',
    });
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (id) => {
        expect(fill('{id}', json(`{"id":${id}}`))).toBe(String(id));
      }),
    );
  });

  it.each([
    ['no JSON', '<html>secret</html>'],
    ['half of it', '{"secret": "canary'],
    ['a key that reaches a prototype', '{"__proto__":{"secret":1}}'],
    ['nesting without an end', '['.repeat(20_000)],
  ])('%s is a bad answer, of which nothing is quoted', (_what, text) => {
    let error: unknown;
    try {
      json(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'SOURCE_BAD_ANSWER' });
    expect(String(error)).not.toMatch(/secret|canary/);
  });

  it('of a megabyte is read whole', () => {
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `item ${id}`, price: id / 7 })));
    expect(json(text)).toHaveLength(20_000);
  });
});

describe('a template', () => {
  it('takes values by name and by pointer; what is missing leaves nothing', () => {
    expect(fill('{name}: {/terms/0/days} days{note}', { name: 'Acme', terms: [{ days: 30 }] })).toBe('Acme: 30 days');
    expect(fill('{{literal}} {a}', { a: 1 })).toBe('{literal} 1');
    expect(fill('{a}', { a: null })).toBeUndefined();
    expect(fill('{/a~1b/m~0n}', { 'a/b': { 'm~n': 'x' } })).toBe('x');
    expect(namesOf(parseTemplate('{a} {/b/c}'))).toEqual(['a', '/b/c']);
  });

  it('takes own values only', () => {
    for (const name of ['constructor', '__proto__', 'toString', '/constructor/name', '/a/length/constructor'])
      expect(fill(`{${name}}`, { a: 'text' })).toBeUndefined();
    expect(readPointer([1, 2], '/length')).toBe(2);
  });

  it('never reads braces of a value as a template', () => {
    fc.assert(fc.property(fc.string({ minLength: 1 }), (value) => fill('{a}', { a: value, b: 'never' }) === value));
  });

  it.each(['{', '}', '{a', 'a}', '{a b}', '{}', '{a{b}}'])('%s is refused', (text) => {
    expect(() => parseTemplate(text)).toThrow(/brace|pointer/);
  });
});

describe('a time', () => {
  it.each([
    ['2024-08-01', '2024-08-01T00:00:00.000Z'],
    ['2024-08-01T08:00:00+08:00', '2024-08-01T00:00:00.000Z'],
    ['2024-08-01 08:00:00.5+02', '2024-08-01T06:00:00.500Z'],
    ['2024-08-01 08:00:00.123456+05:30', '2024-08-01T02:30:00.123Z'],
    ['2024-08-01T08:00Z', '2024-08-01T08:00:00.000Z'],
    // Without a zone it is UTC, whatever zone this machine is in.
    ['2024-08-01 08:00:00', '2024-08-01T08:00:00.000Z'],
  ])('C24: %s is %s', (text, utc) => {
    expect(toUtcTime(text)).toBe(utc);
  });
  it.each(['', 'soon', '2024-02-30', '2024-13-01', '01/02/2024', 'infinity', '1722470400'])('%s is none', (text) => {
    expect(toUtcTime(text)).toBeUndefined();
  });
});

describe('a record', () => {
  const mapping = map({
    content: '{text}',
    locator: 'row/{id}',
    version: '{v}',
    validUntil: '{until}',
    accessLevel: '{level}',
  });
  it('becomes a hit; without content it is none', () => {
    expect(
      toHit('s', mapping, { text: 'Net 30', id: '000001', v: '3', until: '2025-01-01', level: 'restricted' }, 0.5),
    ).toEqual({
      content: 'Net 30',
      locator: 'row/000001',
      series: 'row/000001',
      version: 3,
      score: 0.5,
      validUntil: '2025-01-01T00:00:00.000Z',
      accessLevel: 'restricted',
    });
    expect(toHit('s', mapping, { id: 1, text: '  ' }, 1)).toBeNull();
  });
  it.each([
    ['accessLevel', { level: 'secret' }],
    ['validUntil', { until: 'next year' }],
    ['version', { v: '1.10' }],
  ])('whose %s is unreadable is refused, not guessed', (field, more) => {
    expect(() => toHit('s', mapping, { text: 'x', id: 1, ...more }, 1)).toThrow(new RegExp(`evidence\\.${field}`));
  });
});
