import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  findOwnText,
  isAppError,
  MAX_BODY_BYTES,
  MAX_INLINE_BYTES,
  MAX_JSON_DEPTH,
  MESSAGE_BOUNDS,
  parseGivenJson,
  parseJson,
  parseJsonText,
} from './index.ts';
import { findInexactNumber } from './inexact-number.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const LONE = String.fromCharCode(0xd800);

describe('parseGivenJson', () => {
  it.each([
    ['{"id":9007199254740993}', 'the number 9007199254740993, which would become 9007199254740992'],
    ['[9007199254740993e0]', 'would become 9007199254740992'],
    ['[98765432109876543.0]', 'would become 98765432109876540'],
    ['[-9007199254740993]', '9007199254740993'],
    ['[1, 9223372036854775807]', '9223372036854776000'],
    ['{"amount":12345678901234567890.12}', '12345678901234567890.12'],
    ['[1e400]', '1e400, which is larger than a number can be'],
    [`[${'9'.repeat(1_000_000)}]`, `${'9'.repeat(40)}, which is larger`],
  ])('refuses a number that would become another one: %#', (text, says) => {
    const { code, message } = refusalOf(() => parseGivenJson(utf8(text)));
    expect(code).toBe('UNPARSEABLE');
    expect(message).toContain(says);
    expect(message).toMatch(/send it as text, in quotes$/);
    parseJson(utf8(text));
  });

  it('takes what is in quotes, and whatever JavaScript writes', () => {
    for (const text of [
      '{"9007199254740993":"9007199254740993, \\"9007199254740993"}',
      '[9007199254740992, 10000000000000000000000, 1e21, 0.12345678901234567890]',
    ])
      parseGivenJson(utf8(text));
    fc.assert(
      fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.json()), (value) => {
        const text = typeof value === 'string' ? JSON.stringify(JSON.parse(value)) : JSON.stringify([value]);
        expect(findInexactNumber(text)).toBeUndefined();
      }),
    );
  });
});

describe('parseJson refuses what no service may hold', () => {
  const cases: readonly (readonly [what: string, bytes: Uint8Array, code: string, says: RegExp])[] = [
    ['nothing', new Uint8Array(), 'UNPARSEABLE', /is empty: send/],
    ['blanks', utf8(' \n\t'), 'UNPARSEABLE', /is not JSON/],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0xfe, 0x22), 'UNPARSEABLE', /is not UTF-8: encode/],
    ['UTF-16', new Uint8Array(Buffer.from('\uFEFF{"a":1}', 'utf16le')), 'UNPARSEABLE', /is not UTF-8/],
    ['an overlong NUL', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), 'UNPARSEABLE', /is not UTF-8/],
    ['half a surrogate pair in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'UNPARSEABLE', /is not UTF-8/],
    ['a NUL byte', utf8('{"a":"\0"}'), 'UNPARSEABLE', /is not JSON/],
    ['an escaped NUL', utf8('{"a":["\\u0000"]}'), 'UNPARSEABLE', /NUL/],
    ['a NUL in a key', utf8('{"a\\u0000":1}'), 'UNPARSEABLE', /NUL/],
    ['an escaped unpaired surrogate', utf8('{"a":"\\ud83d"}'), 'UNPARSEABLE', /surrogate/],
    ['an unpaired surrogate in a key', utf8('{"\\udc00":1}'), 'UNPARSEABLE', /surrogate/],
    ['20,000 objects in each other', utf8(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`), 'UNPARSEABLE', /deeper/],
    ['1 MB of [', utf8('['.repeat(1_000_000)), 'UNPARSEABLE', /deeper/],
    ['a cut document', utf8('{"a":[1,2'), 'UNPARSEABLE', /is not JSON/],
    ['two documents', utf8('{}{}'), 'UNPARSEABLE', /is not JSON/],
    ['one byte over the limit', new Uint8Array(MAX_BODY_BYTES + 1).fill(0x20), 'PAYLOAD_TOO_LARGE', /8388609 bytes/],
  ];

  it.each(cases)('%s', (_what, bytes, code, says) => {
    const error = refusalOf(() => parseJson(bytes));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(says);
  });

  it.each(['__proto__', 'constructor', 'prototype'])('the key %s, plain, escaped, nested', (key) => {
    const escaped = [...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const partly = `\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}`;
    for (const spelling of [key, escaped, partly]) {
      for (const text of [
        `{"${spelling}":{"isAdmin":true}}`,
        `{"a":{"b":[{"${spelling}":{"isAdmin":true}}]}}`,
        `[[{"${spelling}":null}]]`,
      ]) {
        expect(refusalOf(() => parseJson(utf8(text))).message).toContain(`"${key}"`);
      }
    }
    expect('isAdmin' in {}).toBe(false);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('names what was read, and quotes nothing that could not be sent on', () => {
    const error = refusalOf(() => parseJson(utf8('{"a": \0😀}'), 'policy set'));
    expect(error.message).toMatch(/^policy set is not JSON/);
    expect(error.message.isWellFormed() && !error.message.includes('\0')).toBe(true);
  });

  it('a forbidden key that a second one of the same name hides', () => {
    expect(refusalOf(() => parseJson(utf8('{"a":{"__proto__":1},"a":2}'))).message).toContain('"__proto__"');
  });

  it.each([
    ['keys', (count: number) => `{${Array.from({ length: count }, (_, i) => `"key${i}":${i}`).join(',')}}`],
    ['values', (count: number) => `[${'[],'.repeat(count - 2)}[]]`],
    ['values', (count: number) => `{"a":[${'"",'.repeat(count)}1]}`],
  ] as const)('more %s than a message may hold', (what, toText) => {
    const most = MESSAGE_BOUNDS[what];
    expect(refusalOf(() => parseJson(utf8(toText(most * 2)), 'body', MESSAGE_BOUNDS)).message).toBe(
      `body holds more than ${most} ${what}: send less, or send it as the text of a document`,
    );
  });

  it('text that no UTF-8 could have held', () => {
    expect(refusalOf(() => parseJsonText(`{"a":"${LONE}"}`)).message).toMatch(/surrogate/);
  });
});

describe('parseJson takes', () => {
  it('100,000 keys', () => {
    const text = `{${Array.from({ length: 100_000 }, (_, i) => `"key${i}":${i}`).join(',')}}`;
    const value = parseJson(utf8(text));
    expect(Object.keys(value as object)).toHaveLength(100_000);
  });

  it('whatever fits inline, however short its keys and values', () => {
    const shortest = `{${'"":1,'.repeat(Math.floor(MAX_INLINE_BYTES / 5) - 1)}"":1}`;
    const list = `[${Array(MAX_INLINE_BYTES / 2)
      .fill('1')
      .join(',')}]`;
    for (const text of [shortest, list]) expect(() => parseJson(utf8(text), 'body', MESSAGE_BOUNDS)).not.toThrow();
  });

  it('the forbidden words as text, and keys that only look like them', () => {
    const value = { say: ['__proto__', 'constructor', 'the prototype'], proto: 1, _constructor: 2 };
    expect(parseJson(utf8(JSON.stringify(value)))).toEqual(value);
  });

  it('the deepest document allowed, and brackets within text', () => {
    const deepest = `${'['.repeat(MAX_JSON_DEPTH)}${']'.repeat(MAX_JSON_DEPTH)}`;
    expect(Array.isArray(parseJson(utf8(deepest)))).toBe(true);
    expect(refusalOf(() => parseJson(utf8(`[${deepest}]`))).code).toBe('UNPARSEABLE');
    const text = { quote: `"\\${'[{'.repeat(500)}` };
    expect(parseJson(utf8(JSON.stringify(text)))).toEqual(text);
  });

  it('a byte order mark, escapes, pairs, 租户', () => {
    expect(parseJson(utf8('\uFEFF{"租户":"\\ud83d\\ude00 \\u79df"}'))).toEqual({ 租户: '😀 租' });
  });

  it('every JSON value that holds no forbidden thing, unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        fc.pre(!/__proto__|constructor|prototype|\\u0000|\\ud[89a-f]/.test(JSON.stringify(value)));
        expect(parseJson(utf8(JSON.stringify(value)))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('exactly what a walk over the parsed value finds clean', () => {
    const unit = fc.constantFrom(
      '\\u0000',
      '\\u0001',
      '\\ud83d',
      '\\ude00',
      '\\uD83D',
      '\\uDE00',
      '\\\\',
      '\\"',
      '\\n',
      'u0000',
      '{',
      'a',
    );
    const word = fc.constantFrom(
      '__proto__',
      '\\u005f_proto__',
      '__prot\\u006F__',
      'constructor',
      'prototyp\\u0065',
      '__proto_',
    );
    const string = fc
      .oneof(
        fc.array(unit, { maxLength: 4 }).map((units) => units.join('')),
        word,
      )
      .map((s) => `"${s}"`);
    const { json } = fc.letrec<{ json: string }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        string,
        fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
        fc
          .uniqueArray(fc.tuple(string, tie('json')), { maxLength: 3, selector: ([key]) => String(JSON.parse(key)) })
          .map((all) => `{${all.map((kv) => kv.join(' \n: ')).join()}}`),
      ),
    }));
    fc.assert(
      fc.property(json, (text) => {
        expect(isTaken(text)).toBe(isCleanText(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('or refuses any bytes with an error of its own', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          parseJson(bytes);
        } catch (error) {
          expect(isAppError(error) && error.code).toBe('UNPARSEABLE');
        }
      }),
    );
  });
});

describe('findOwnText finds a text of the envelope without parsing it', () => {
  it.each([
    ['{"data":{"id":"no"},"id":"yes","x":["id"]}', 'yes'],
    ['{"x":"\\"id\\":","id" : "a\\u00e9\\"b"', 'aé"b'],
    ['[{"id":"no"}]', undefined],
    ['{"x":"id"}', undefined],
    ['{"id":1}', undefined],
    ['{"id":"\\u0000"}', undefined],
    ['{"id":"\\ud800"}', undefined],
    [`{"id":"${'x'.repeat(201)}"}`, undefined],
    [`{"id":"${'x'.repeat(9_000_000)}`, undefined],
    ['id', undefined],
  ])('%.60s', (json, text) => {
    expect(findOwnText(json, 'id')).toBe(text);
  });
});

describe('canonicalJson', () => {
  it('is equal for equal values, whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(reverseKeys(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('differs for different values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const same = canonicalJson(JSON.parse(JSON.stringify(a))) === canonicalJson(JSON.parse(JSON.stringify(b)));
        expect(same).toBe(JSON.stringify(reverseKeys(sortKeys(a))) === JSON.stringify(reverseKeys(sortKeys(b))));
      }),
    );
  });

  it('drops what JSON drops, and is text for anything', () => {
    expect(canonicalJson({ b: undefined, a: [undefined, () => 1], c: Number.NaN })).toBe('{"a":[null,null],"c":null}');
    expect(canonicalJson(undefined)).toBe('null');
    expect(canonicalJson({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
  });

  it('sorts by UTF-16 units, as RFC 8785 does', () => {
    expect(canonicalJson({ é: 1, z: 2, Z: 3, '😀': 4, '\uFB01': 5 })).toBe('{"Z":3,"z":2,"é":1,"😀":4,"\uFB01":5}');
  });
});

function isTaken(text: string): boolean {
  try {
    parseJsonText(text);
    return true;
  } catch {
    return false;
  }
}

/** By a reviver: slow, obviously right. */
function isCleanText(text: string): boolean {
  let clean = true;
  JSON.parse(text, (key, item: unknown) => {
    for (const part of [key, item]) {
      if (typeof part === 'string' && (part.includes('\0') || !part.isWellFormed())) clean = false;
    }
    if (['__proto__', 'constructor', 'prototype'].includes(key)) clean = false;
    return item;
  });
  return clean;
}

function reverseKeys(value: unknown): unknown {
  return mapKeys(value, (keys) => keys.reverse());
}
function sortKeys(value: unknown): unknown {
  return mapKeys(value, (keys) => keys.sort());
}
function mapKeys(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => mapKeys(item, order));
  if (typeof value !== 'object' || value === null) return value;
  const from = new Map(Object.entries(value));
  return Object.fromEntries(order([...from.keys()]).map((key) => [key, mapKeys(from.get(key), order)]));
}

function refusalOf(act: () => unknown): { code: string; message: string } {
  try {
    act();
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error('was accepted');
}
