import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applySensitivePolicy, DEFAULT_SENSITIVE, findSensitive, maskSensitive } from './index.ts';

const found = (text: string) => findSensitive(text).map(({ kind, start, end }) => [kind, text.slice(start, end)]);

describe('identifiers', () => {
  test.each([
    ['resident_id', '11010519491231002X'],
    ['resident_id', '110105 19491231 002x'],
    ['resident_id', '１１０１０５１９４９１２３１００２Ｘ'],
    ['resident_id', '53010219200508011X'],
    ['credit_code', '91350100M000100Y43'],
    ['bank_card', '4111 1111 1111 1111'],
    ['bank_card', '6222021234567890128'],
    ['bank_card', '3782-822463-10005'],
    ['phone', '13812345678'],
    ['phone', '138-1234-5678'],
    ['phone', '+86 138 1234 5678'],
    ['phone', '+1 (415) 555-2671'],
    ['phone', '+44 20 7946 0958'],
    ['email', 'li.si+x@mail.example.com'],
    ['iban', 'DE89 3704 0044 0532 0130 00'],
    ['iban', 'GB29NWBK60161331926819'],
    ['credential', 'sk-abcdefghijklmnop1234'],
    ['credential', 'AKIAIOSFODNN7EXAMPLE'],
    ['credential', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N'],
  ])('%s: %s, alone, in a sentence, and right beside CJK characters', (kind, text) => {
    for (const [before, after] of [
      ['', ''],
      ['his number is ', ', he said.'],
      ['联系人张三的号码是', '请保密'],
      ['（', '）'],
    ] as const)
      expect(found(before + text + after)).toEqual([[kind, text]]);
  });

  test.each([
    'password: hunter22',
    '密码：abc12345',
    'the api key is 9f8e7d6c5b4a',
    'postgres://user:hunter2@db/app',
    'redis://:hunter2@db',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----',
  ])('a key by what stands before it: %s', (text) => {
    expect(findSensitive(text).map(({ kind }) => kind)).toEqual(['credential']);
  });

  test('two of a kind in one run of digits are told apart', () => {
    expect(found('电话 13812345678 13912345678')).toEqual([
      ['phone', '13812345678'],
      ['phone', '13912345678'],
    ]);
    expect(found('13812345678,13912345678')).toHaveLength(2);
    expect(found('DE89370400440532013000-13812345678')).toHaveLength(2);
  });
});

describe('what is none', () => {
  test.each([
    ['a wrong check sign', '110105194912310021'],
    ['no date', '110105194913310029'],
    ['no province', '990105194912310025'],
    ['a card with a wrong check digit', '4111111111111112'],
    ['a part of a longer number', '913812345678123456789012'],
    ['a part of a word', 'A4111111111111111B'],
    ['a time in milliseconds', '1795997634917'],
    ['a UUID', '4111a111-1111-4111-8111-138123456780'],
    ['a UUID of digits', '41111111-1111-4117-8111-138123456780'],
    ['an IBAN with a wrong check', 'DE88370400440532013000'],
    ['a handle', '@someone and 5 @ 3'],
    ['a required password', 'the password is required'],
    ['a clause number', '第12.13812345678条'],
  ])('%s', (_, text) => expect(found(text)).toEqual([]));

  test.each([
    '¥13812345678',
    '人民币 13812345678 元',
    '13812345678.00',
    'USD 4111111111111111',
    '4111111111111111 dollars',
    '总价：13812345678万元',
    '13812345678 股',
    '+13812345678%',
    '１３８１２３４５６７８元',
    '13,812,345,678',
  ])('an amount is never an identifier: %s', (text) => expect(found(text)).toEqual([]));
});

test('any valid identity number is found at its place in any text without digits, and taken out whole', () => {
  const id = fc
    .tuple(
      fc.constantFrom('110105', '440305', '650102', '810000'),
      fc.date({ min: new Date('1930-01-01'), max: new Date('2020-12-31'), noInvalidDate: true }),
      fc.integer({ min: 0, max: 999 }),
    )
    .map(([region, born, order]) => {
      const head = `${region}${born.toISOString().slice(0, 10).replaceAll('-', '')}${String(order).padStart(3, '0')}`;
      // The other way of saying the rule: the whole number, as a polynomial in 2, is 1 modulo 11.
      const sum = [...head].reduce((total, digit, at) => total + Number(digit) * 2 ** (17 - at), 0);
      const check = (12 - (sum % 11)) % 11;
      return head + (check === 10 ? 'X' : String(check));
    });
  const words = fc
    .array(fc.constantFrom('证件', 'number ', '，', ' ', '的', '。'), { maxLength: 6 })
    .map((w) => w.join(''));
  fc.assert(
    fc.property(words, id, words, (before, number, after) => {
      const text = `${before} ${number} ${after}`;
      expect(found(text)).toEqual([['resident_id', number]]);
      expect(maskSensitive(text, DEFAULT_SENSITIVE)).toBe(`${before} [resident_id] ${after}`);
    }),
  );
});

test('three levels: stored as it is, masked, refused whole', () => {
  expect(applySensitivePolicy('公司 91350100M000100Y43', DEFAULT_SENSITIVE)).toEqual({
    outcome: 'kept',
    text: '公司 91350100M000100Y43',
    masked: [],
  });
  expect(applySensitivePolicy('call 13812345678 or 13912345678', DEFAULT_SENSITIVE)).toEqual({
    outcome: 'kept',
    text: 'call [phone] or [phone]',
    masked: ['phone'],
  });
  expect(applySensitivePolicy('call 13812345678, password: hunter22', DEFAULT_SENSITIVE)).toEqual({
    outcome: 'refused',
    kinds: ['credential'],
  });
  expect(applySensitivePolicy('a@b.example', { ...DEFAULT_SENSITIVE, email: 'refuse' })).toMatchObject({
    outcome: 'refused',
  });
});

test('what was masked holds nothing any more, and masking again changes nothing', () => {
  const piece = fc.constantFrom(
    '13812345678',
    ' ',
    '-',
    '@',
    'a.b',
    'DE89370400440532013000',
    '4111111111111111',
    '是',
    'x',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const masked = maskSensitive(pieces.join(''), DEFAULT_SENSITIVE);
      expect(findSensitive(masked)).toEqual([]);
    }),
  );
});

test('the time grows with the length, whatever the text', () => {
  const units = [
    '1',
    '12 ',
    '1-',
    '12-',
    '1234 ',
    'a@',
    '@',
    'a.',
    'a@a.',
    '+1',
    '+1 ',
    'DE89',
    'DE89 ',
    'eyJaaaaaaaa.',
    '-eyJ',
    'sk-',
    '//a:',
    '//:@',
    'password:',
    'bearer ',
    '-----BEGIN PRIVATE KEY-----',
    '密码是',
    '91350211M000100Y4 ',
    'A',
    '１',
  ];
  // Twice the text may take about twice the time: a quadratic rule would take minutes on the longer one.
  for (const unit of units) findSensitive(unit.repeat(Math.ceil(1_000_000 / unit.length)));
}, 300_000);
