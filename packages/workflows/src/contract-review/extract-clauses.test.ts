import { describe, expect, test } from 'vitest';
import { CLAUSE_KINDS } from './clause.ts';
import { extractClauses } from './extract-clauses.ts';
import { sentencesOf } from './sentence.ts';

const ONE_MEGABYTE = 1 << 20;
const FOUR_MEGABYTES = 4 << 20;

describe('extractClauses', () => {
  test('gives one result per kind, also for an empty text', () => {
    expect(extractClauses('').map(({ kind, present }) => [kind, present])).toEqual(
      CLAUSE_KINDS.map((kind) => [kind, false]),
    );
  });

  test.each([
    [
      '4.1 Term.\n\nLessee may use the Equipment for a period of [**], unless ended earlier as provided below.',
      'blank',
    ],
    ['7. TERM OF LICENSE\n\nThe rights granted above last for a period of fifteen (15) years.', '15'],
    ['7. SUPPORT\n\nSupport is given for a period of fifteen (15) years.', null],
  ])('a period under a heading of its kind is the term: %j', (text, value) => {
    const term = extractClauses(text).find(({ kind }) => kind === 'term');
    expect(term?.present === true ? (term.value ?? term.basis) : null).toBe(value);
  });

  test.each(['{{TERM}}', '[[TEXT:initial_term]]', '[NUMBER]', '[insert number]', '[●]', '____'])(
    'what a template leaves open is a blank: %s',
    (blank) => {
      const [payment] = extractClauses(`Invoices are due within ${blank} days from the invoice date.`);
      expect(payment).toMatchObject({ present: true, value: null, basis: 'blank' });
    },
  );

  test('quotes the text as it came: line ends, double blanks, full-width forms, page furniture', () => {
    const text =
      '\ufeff4.  PAYMENT\r\n\r\nInvoices  are due  within thirty\r\n(30)   days of\r\n\r\n<PAGE>  12\r\n\r\nreceipt of the invoice.\r\n';
    const [payment] = extractClauses(text);
    expect(payment).toMatchObject({ present: true, value: '30' });
    if (payment?.present !== true) return;
    expect(payment.quote).toBe(
      'Invoices  are due  within thirty\r\n(30)   days of\r\n\r\n<PAGE>  12\r\n\r\nreceipt of the invoice.',
    );
    expect(text.slice(payment.span.start, payment.span.end)).toBe(payment.quote);
  });

  test('offsets count UTF-16 code units', () => {
    const text = '😀😀 Preamble.\n\nInvoices are due within 30 days of receipt.';
    const [payment] = extractClauses(text);
    expect(payment?.present === true && text.slice(payment.span.start, payment.span.end)).toBe(
      'Invoices are due within 30 days of receipt.',
    );
  });

  test('reads each sentence in its own language', () => {
    const text = '1. 甲方应在收到发票后60日内付款。 Party A shall pay the invoice within 60 days of receipt.';
    const [payment] = extractClauses(text);
    expect(payment).toMatchObject({ value: '60', supporting: [{}], notes: [] });
  });

  test('an employment agreement pays a person, unless something is billed', () => {
    const employment =
      'Employment Agreement. The Employee and the Employer agree on the employment of the Employee at a salary.\n\n';
    const expenses = 'The Company shall pay such amounts within thirty (30) days after submission of receipts.';
    const billed = 'Consulting services are paid within thirty (30) days of receipt of an invoice.';
    expect(extractClauses(expenses)[0]?.present).toBe(true);
    expect(extractClauses(employment + expenses)[0]?.present).toBe(false);
    expect(extractClauses(employment + billed)[0]?.present).toBe(true);
  });

  test('says when other passages name other values', () => {
    const text =
      'Invoices are due within 30 days of receipt.\n\nInvoices for travel are due within 45 days of receipt.';
    expect(extractClauses(text)[0]).toMatchObject({ value: '30', notes: ['other_values_elsewhere'] });
  });

  test.each([
    ['parentheses', '(', FOUR_MEGABYTES],
    ['digits', '7', FOUR_MEGABYTES],
    ['blanks', ' ', FOUR_MEGABYTES],
    ['line ends', '\n', FOUR_MEGABYTES],
    ['full stops', '. ', FOUR_MEGABYTES],
    ['brackets', '【 ', FOUR_MEGABYTES],
    ['short lines', 'a\n', ONE_MEGABYTE],
    ['payment words', 'shall pay 30 days net ', ONE_MEGABYTE],
    ['liability words', 'not liable exceed ', ONE_MEGABYTE],
    ['interest words', 'interest 5% late ', ONE_MEGABYTE],
    ['Chinese words', '逾期付款违约金赔偿责任不超过', ONE_MEGABYTE],
    ['clauses', '收到发票后30日内付款。', ONE_MEGABYTE],
  ])('hostile runs of %s are read in linear time', (_name, piece, length) => {
    const hostile = piece.repeat(length / piece.length);
    // CPU time, because other tests share the cores.
    const before = process.cpuUsage();
    extractClauses(hostile);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2_000);
  });
});

describe('sentencesOf', () => {
  const plains = (text: string) => [...sentencesOf(text)].map(({ plain }) => plain);

  test('abbreviations and section numbers end no sentence', () => {
    expect(plains('Acme Inc. shall pay Sec. 3.2 fees. No. 4 applies.')).toEqual([
      'Acme Inc. shall pay Sec. 3.2 fees.',
      'No. 4 applies.',
    ]);
  });

  test('Chinese sentences end at 。 and ；, headings stand alone', () => {
    expect(plains('第四条 付款方式\n甲方应在收到发票后\n30日内付款；逾期付款的，支付违约金。')).toEqual([
      '第四条 付款方式',
      '甲方应在收到发票后30日内付款;',
      '逾期付款的,支付违约金。',
    ]);
  });

  test('every sentence knows the heading above it', () => {
    const headings = [...sentencesOf('# Fees\n\nPay.\n\n5. TERMS OF PAYMENT. Buyer shall pay.')].map(
      ({ heading }) => heading,
    );
    expect(headings.at(-1)).toBe('5. TERMS OF PAYMENT.');
  });

  test('a heading that runs into its paragraph is one, a sentence of names or with a verb is none', () => {
    const headingOf = (text: string) => [...sentencesOf(text)].at(-1)?.heading;
    expect(headingOf('(b) Severance Payments. The Mill pays.')).toBe('(b) Severance Payments.');
    expect(headingOf('Term and Automatic Renewal. The term is a year.')).toBe('Term and Automatic Renewal.');
    expect(headingOf('Nothing Shall Change. The Mill pays.')).toBe('');
    expect(headingOf('The mill pays. The miller is paid.')).toBe('');
    expect(headingOf('Late Payments.')).toBe('');
  });
});
