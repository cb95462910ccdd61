import { readDocumentFile } from '@cleanslate/documents';
import { aDocx, aPdf } from '@cleanslate/documents/testing';
import { expect, test } from 'vitest';
import { extractClauses } from './extract-clauses.ts';

async function textOf(bytes: Uint8Array, name: string): Promise<string> {
  const read = await readDocumentFile(bytes, name);
  if (!read.ok) throw new Error(`${read.error.code}: ${read.error.message}`);
  return read.document.text;
}

test('every quote from a PDF stands at its offsets and says its page', async () => {
  const bytes = aPdf([
    { lines: ['LICENSE AGREEMENT', '', 'This Agreement shall be governed by the laws', 'of the State of Ohio.'] },
    { lines: ['Page 2 of 3', '', 'Customer shall pay each invoice within forty-five', '(45) days of receipt.'] },
    { blank: true },
  ]);
  const text = await textOf(bytes, 'contract.pdf');
  const clauses = extractClauses(text);
  const payment = clauses.find(({ kind }) => kind === 'payment_term');
  expect(payment).toMatchObject({ present: true, value: '45', span: { page: 2 } });
  const law = clauses.find(({ kind }) => kind === 'governing_law');
  expect(law).toMatchObject({ present: true, choice: 'Ohio', span: { page: 1 } });
  for (const clause of clauses) {
    if (clause.present) expect(text.slice(clause.span.start, clause.span.end)).toBe(clause.quote);
  }
});

test('a sentence that runs over the page of a PDF is one sentence, on the page where it begins', async () => {
  const text = await textOf(
    aPdf([{ lines: ['Customer shall pay each invoice within'] }, { lines: ['thirty (30) days of receipt.'] }]),
    'c.pdf',
  );
  expect(extractClauses(text)[0]).toMatchObject({ value: '30', span: { page: 1 } });
});

test('a Word file is read like its text, in English and Chinese', async () => {
  const text = await textOf(
    aDocx([
      'Customer shall pay each invoice within sixty (60) days of receipt.',
      '甲方逾期付款的，每逾期一日，按逾期金额的万分之五支付违约金。',
    ]),
    'contract.docx',
  );
  expect(extractClauses(text).slice(0, 2)).toMatchObject([{ value: '60' }, { value: '0.05', per: 'day' }]);
});
