import { describe, expect, test } from 'vitest';
import { findInvalidUtf8, readDocument } from './document.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

function errorOf(bytes: Uint8Array, name = 'contract.txt') {
  const result = readDocument(bytes, name);
  return result.ok ? null : result.error;
}

describe('readDocument', () => {
  test('keeps the text as it came, byte order mark and line ends included', () => {
    const text = '\ufeff第一条\r\nNet 30 days\r\n';
    expect(readDocument(utf8(text), 'a.TXT')).toMatchObject({
      ok: true,
      document: { text, mediaType: 'text/plain', bytes: utf8(text).length },
    });
    expect(readDocument(utf8('# a'), 'a.md')).toMatchObject({ ok: true, document: { mediaType: 'text/markdown' } });
  });

  test.each([
    ['empty', new Uint8Array(), 'contract.txt', 'DOCUMENT_EMPTY'],
    ['only blanks', utf8(' \n\t\ufeff'.trimStart().concat(' ')), 'contract.txt', 'DOCUMENT_EMPTY'],
    ['NUL', utf8('a\0b'), 'contract.txt', 'DOCUMENT_NUL'],
    ['GB18030', Uint8Array.from([0x61, 0xba, 0xcf, 0xcd, 0xac]), 'contract.txt', 'DOCUMENT_ENCODING'],
    ['Latin-1', Uint8Array.from([0x63, 0x61, 0x66, 0xe9]), 'contract.txt', 'DOCUMENT_ENCODING'],
    ['UTF-16', Uint8Array.from([0xff, 0xfe, 0x61, 0x00]), 'contract.txt', 'DOCUMENT_ENCODING'],
    ['a PDF', utf8('%PDF-1.7 …'), 'contract.pdf', 'DOCUMENT_BINARY'],
    ['a Word file', Uint8Array.from([0x50, 0x4b, 3, 4, 9]), 'contract.docx', 'DOCUMENT_BINARY'],
    ['another ending', utf8('text'), 'contract.html', 'DOCUMENT_TYPE'],
    ['no ending', utf8('text'), 'contract', 'DOCUMENT_TYPE'],
    ['too large', new Uint8Array(4 * 1024 * 1024).fill(0x61), 'contract.txt', 'DOCUMENT_TOO_LARGE'],
  ])('refuses %s', (_what, bytes, name, code) => {
    const error = errorOf(bytes, name);
    expect(error).toMatchObject({ code, field: 'input' });
    expect(error?.remedy).not.toBe('');
  });

  test('names the byte that is wrong, and how to convert', () => {
    expect(errorOf(Uint8Array.from([0x61, 0x62, 0xff, 0x63]))).toMatchObject({
      message: expect.stringContaining('byte offset 2 (0xff)'),
      remedy: expect.stringContaining('iconv'),
    });
    expect(errorOf(Uint8Array.from([0xfe, 0xff, 0x00, 0x61]))?.remedy).toContain('iconv -f UTF-16');
  });
});

describe('findInvalidUtf8', () => {
  test.each([
    ['overlong', [0xc0, 0x80], 0],
    ['overlong of three', [0x61, 0xe0, 0x80, 0x80], 1],
    ['a surrogate', [0xed, 0xa0, 0x80], 0],
    ['above the last code point', [0xf4, 0x90, 0x80, 0x80], 0],
    ['cut at the end', [0x61, 0xe4, 0xb8], 1],
    ['a stray continuation', [0x80], 0],
    ['four bytes', [0xf0, 0x9f, 0x98, 0x80], -1],
  ])('%s', (_what, bytes, expected) => {
    expect(findInvalidUtf8(Uint8Array.from(bytes))).toBe(expected);
  });
});
