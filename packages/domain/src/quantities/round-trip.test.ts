import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDecimals, compareDecimals, formatDecimal, multiplyDecimals, parseDecimal } from './decimal.ts';
import { findQuantities } from './index.ts';

const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

function toEnglish(value: number): string {
  if (value < 20) return ONES[value] ?? '';
  if (value < 100) return `${TENS[Math.floor(value / 10)]}${value % 10 === 0 ? '' : `-${ONES[value % 10]}`}`;
  for (const [size, name] of [
    [1e9, 'billion'],
    [1e6, 'million'],
    [1e3, 'thousand'],
    [100, 'hundred'],
  ] as const) {
    if (value < size) continue;
    const rest = value % size;
    const tail = rest === 0 ? '' : rest < 100 ? ` and ${toEnglish(rest)}` : ` ${toEnglish(rest)}`;
    return `${toEnglish(Math.floor(value / size))} ${name}${tail}`;
  }
  return '';
}

function sectionToChinese(value: number, digits: string, places: readonly string[]): string {
  let text = '';
  let skipped = false;
  [1000, 100, 10, 1].forEach((place, index) => {
    const digit = Math.floor(value / place) % 10;
    if (digit === 0) {
      skipped = text !== '';
      return;
    }
    text += `${skipped ? digits.charAt(0) : ''}${digits.charAt(digit)}${places[index] ?? ''}`;
    skipped = false;
  });
  return text;
}

function toChinese(value: number, financial: boolean): string {
  const digits = financial ? '零壹贰叁肆伍陆柒捌玖' : '零一二三四五六七八九';
  const places = financial ? ['仟', '佰', '拾', ''] : ['千', '百', '十', ''];
  const high = Math.floor(value / 1e8);
  const middle = Math.floor(value / 1e4) % 1e4;
  const low = value % 1e4;
  const parts = [
    high === 0 ? '' : `${sectionToChinese(high, digits, places)}亿`,
    middle === 0
      ? high > 0 && low > 0
        ? '零'
        : ''
      : `${high > 0 && middle < 1000 ? '零' : ''}${sectionToChinese(middle, digits, places)}万`,
    low === 0 ? '' : `${value >= 1e4 && low < 1000 && middle > 0 ? '零' : ''}${sectionToChinese(low, digits, places)}`,
  ];
  return parts.join('');
}

const positive = fc.integer({ min: 1, max: 999_999_999 });

describe('numbers survive being written out', () => {
  test('in English words', () => {
    fc.assert(
      fc.property(positive, (value) => {
        expect(findQuantities(`${toEnglish(value)} days`)[0]).toMatchObject({ value: value.toString(), unit: 'days' });
      }),
    );
  });

  test.each([
    ['ordinary', false],
    ['financial', true],
  ])('in %s Chinese numerals', (_name, financial) => {
    fc.assert(
      fc.property(positive, (value) => {
        expect(findQuantities(`${toChinese(value, financial)}元`)[0]).toMatchObject({
          value: value.toString(),
          unit: 'amount',
        });
      }),
    );
  });

  test('in digits, grouped or full-width', () => {
    fc.assert(
      fc.property(positive, (value) => {
        const wide = value.toString().replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
        expect(findQuantities(`$${value.toLocaleString('en-US')}`)[0]?.value).toBe(value.toString());
        expect(findQuantities(`${wide}％`)[0]).toMatchObject({ value: value.toString(), unit: 'percent' });
      }),
    );
  });

  test('in 万 and 亿 with decimals, exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999 }), (thousandths) => {
        const written = `${Math.floor(thousandths / 1000)}.${(thousandths % 1000).toString().padStart(3, '0')}`;
        expect(findQuantities(`${written}万元`)[0]?.value).toBe((thousandths * 10).toString());
        expect(findQuantities(`${written}亿元`)[0]?.value).toBe((thousandths * 100_000).toString());
      }),
    );
  });

  test('every quantity found cuts the text it names', () => {
    const piece = fc.constantFrom(
      'thirty',
      '(30)',
      '三十',
      '日',
      ' days',
      '%',
      '万',
      '分之',
      '百',
      ' per month',
      '¥',
      '1,000',
      '.5',
      '每',
      '整',
      '（',
      '）',
      '１',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        for (const found of findQuantities(text)) expect(text.slice(found.span.start, found.span.end)).toBe(found.text);
      }),
    );
  });
});

describe('decimals are exact', () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 8 }))
    .map(([digits, scale]) => ({ digits, scale }));

  test('format and parse are inverse', () => {
    fc.assert(
      fc.property(decimal, (value) => {
        const back = parseDecimal(formatDecimal(value));
        expect(back === null ? null : compareDecimals(back, value)).toBe(0);
      }),
    );
  });

  test('multiplication distributes over addition', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, (a, b, c) => {
        const left = multiplyDecimals(a, addDecimals(b, c));
        const right = addDecimals(multiplyDecimals(a, b), multiplyDecimals(a, c));
        expect(formatDecimal(left)).toBe(formatDecimal(right));
      }),
    );
  });
});
