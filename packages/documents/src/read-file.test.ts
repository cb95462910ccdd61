import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { pageOf, pageStarts } from './pages.ts';
import { readDocumentFile } from './read-file.ts';
import { aDocx, aPdf } from './testing.ts';

async function textOf(bytes: Uint8Array, name: string): Promise<string> {
  const read = await readDocumentFile(bytes, name);
  if (!read.ok) throw new Error(`${read.error.code}: ${read.error.message}`);
  return read.document.text;
}

async function codeOf(bytes: Uint8Array, name: string, bounds = {}): Promise<string> {
  const read = await readDocumentFile(bytes, name, bounds);
  if (read.ok) return 'ok';
  // A refusal says what to do.
  expect(read.error.remedy).not.toBe('');
  expect(read.error.message).toContain(name);
  return read.error.code;
}

describe('a PDF', () => {
  test('gives its text page by page, paragraphs apart; a blank page counts', async () => {
    const text = await textOf(
      aPdf([
        { lines: ['LICENSE AGREEMENT', '', 'This Agreement shall be governed by the laws', 'of the State of Ohio.'] },
        { blank: true },
        { lines: ['Customer shall pay each invoice within'] },
      ]),
      'contract.pdf',
    );
    expect(text).toMatch(/^LICENSE AGREEMENT\n\nThis Agreement shall be governed by the laws\nof the State of Ohio\./);
    const starts = pageStarts(text);
    expect(starts).toHaveLength(3);
    expect(['LICENSE', 'Customer'].map((word) => pageOf(starts, text.indexOf(word)))).toEqual([1, 3]);
  });

  test.each([
    ['only pictures', [{ picture: true }, { picture: true }] as const],
    ['one page that is a picture', [{ lines: ['Text.'] }, { picture: true }] as const],
  ])('of %s is refused as a scan', async (_name, pages) => {
    expect(await codeOf(aPdf(pages), 'scan.pdf')).toBe('DOCUMENT_SCANNED');
  });

  test('that is broken, empty, too long, or no PDF is refused', async () => {
    expect(await codeOf(strToU8('%PDF-1.7 and then nothing'), 'a.pdf')).toBe('DOCUMENT_DAMAGED');
    expect(await codeOf(aPdf([{ blank: true }]), 'a.pdf')).toBe('DOCUMENT_EMPTY');
    expect(await codeOf(aPdf(Array.from({ length: 5 }, () => ({ lines: ['x'] }))), 'a.pdf', { maxPages: 4 })).toBe(
      'DOCUMENT_TOO_LARGE',
    );
    expect(await codeOf(strToU8('Plain text.'), 'a.pdf')).toBe('DOCUMENT_TYPE');
    const locked = aPdf(
      [{ lines: ['Text.'] }],
      `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> >> /ID [<00><00>]`,
    );
    expect(await codeOf(locked, 'locked.pdf')).toBe('DOCUMENT_ENCRYPTED');
  });

  test('that takes longer than its time is given up on', async () => {
    const many = aPdf(
      Array.from({ length: 400 }, () => ({ lines: Array.from({ length: 50 }, () => 'word '.repeat(12)) })),
    );
    expect(await codeOf(many, 'slow.pdf', { maxMs: 1 })).toBe('DOCUMENT_TIMEOUT');
  });
});

describe('a Word file', () => {
  test('gives its paragraphs, table cells and special characters, in English and Chinese', async () => {
    const text = await textOf(
      aDocx([
        'Fees & charges < all',
        'Customer shall pay each invoice within sixty (60) days of receipt.',
        '甲方逾期付款的，每逾期一日，按逾期金额的万分之五支付违约金。',
      ]),
      'contract.docx',
    );
    expect(text).toContain('Fees & charges < all');
    expect(text).toContain('within sixty (60) days of receipt.\n');
    expect(text).toContain('甲方逾期付款的，每逾期一日，按逾期金额的万分之五支付违约金。');
  });

  test('reads as it stands after its tracked changes', async () => {
    const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
    const body = `<w:p>${run('Pay invoices within ')}<w:del w:id="1" w:author="a"><w:r><w:delText>90</w:delText></w:r></w:del><w:ins w:id="2" w:author="a">${run('30')}</w:ins>${run(' days.')}</w:p>`;
    expect(await textOf(aDocx([], {}, body), 'c.docx')).toContain('Pay invoices within 30 days.');
  });

  test('gives its footnotes too: a condition may stand in one', async () => {
    const w = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
    const note =
      '<w:footnote w:id="2"><w:p><w:r><w:t>Liability is capped at USD 100,000.</w:t></w:r></w:p></w:footnote>';
    const notes = strToU8(`<?xml version="1.0"?><w:footnotes xmlns:w="${w}">${note}</w:footnotes>`);
    const text = await textOf(aDocx(['Clause 1.'], { 'word/footnotes.xml': notes }), 'c.docx');
    expect(text).toMatch(/Clause 1\.[\s\S]*Liability is capped at USD 100,000\./);
  });

  test('that is a bomb stops at its bounds', async () => {
    const zeros = new Uint8Array(80 * 1024 * 1024).fill(32);
    const bomb = aDocx([], { 'word/footnotes.xml': zeros });
    expect(bomb.length).toBeLessThan(1024 * 1024);
    expect(await codeOf(bomb, 'bomb.docx')).toBe('DOCUMENT_TOO_LARGE');
  });

  test('whose XML declares entities, or that is another ZIP file, or broken, is refused', async () => {
    const laughs = strToU8('<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><w:document/>');
    expect(await codeOf(aDocx([], { 'word/document.xml': laughs }), 'laughs.docx')).toBe('DOCUMENT_DAMAGED');
    expect(await codeOf(zipSync({ 'a.txt': strToU8('text') }), 'zip.docx')).toBe('DOCUMENT_BINARY');
    expect(await codeOf(aDocx(['Text.']).subarray(0, 200), 'cut.docx')).toMatch(/DOCUMENT_(?:DAMAGED|BINARY)/);
    expect(await codeOf(aDocx(['Text.']), 'contract.txt')).toBe('DOCUMENT_BINARY');
    expect(await codeOf(aDocx(['  ']), 'blank.docx')).toBe('DOCUMENT_EMPTY');
  });
});
