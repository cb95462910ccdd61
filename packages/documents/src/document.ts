import { MAX_DOCUMENT_BYTES } from '@cleanslate/contracts';

export const DOCUMENT_ERRORS = [
  'DOCUMENT_EMPTY',
  'DOCUMENT_TOO_LARGE',
  'DOCUMENT_TYPE',
  'DOCUMENT_BINARY',
  'DOCUMENT_NUL',
  'DOCUMENT_ENCODING',
  /** Pages that are pictures. */
  'DOCUMENT_SCANNED',
  'DOCUMENT_ENCRYPTED',
  'DOCUMENT_DAMAGED',
  'DOCUMENT_TIMEOUT',
] as const;

export interface DocumentError {
  readonly code: (typeof DOCUMENT_ERRORS)[number];
  readonly field: 'input';
  readonly message: string;
  readonly remedy: string;
}

export interface ReadableDocument {
  readonly name: string;
  readonly mediaType: 'text/plain' | 'text/markdown';
  /** Decoded and otherwise unchanged, including a byte order mark: offsets refer to exactly this string. */
  readonly text: string;
  readonly bytes: number;
}

export type ReadDocumentResult =
  | { readonly ok: true; readonly document: ReadableDocument }
  | { readonly ok: false; readonly error: DocumentError };

const MEDIA_TYPES: ReadonlyMap<string, ReadableDocument['mediaType']> = new Map([
  ['txt', 'text/plain'],
  ['text', 'text/plain'],
  ['md', 'text/markdown'],
  ['markdown', 'text/markdown'],
]);

/** First bytes of files that people mistake for text. */
const SIGNATURES: readonly { readonly name: string; readonly bytes: readonly number[]; readonly remedy: string }[] = [
  {
    name: 'a PDF',
    bytes: [0x25, 0x50, 0x44, 0x46, 0x2d],
    remedy: 'Name it .pdf.',
  },
  {
    name: 'a Word or ZIP file',
    bytes: [0x50, 0x4b, 0x03, 0x04],
    remedy: 'Name it .docx if it is a Word file; unpack a ZIP file and take the document in it.',
  },
  { name: 'an old Word file', bytes: [0xd0, 0xcf, 0x11, 0xe0], remedy: 'Save it as plain text in UTF-8.' },
  { name: 'an RTF file', bytes: [0x7b, 0x5c, 0x72, 0x74, 0x66], remedy: 'Save it as plain text in UTF-8.' },
  { name: 'a PNG image', bytes: [0x89, 0x50, 0x4e, 0x47], remedy: 'Run text recognition on it and submit the text.' },
  { name: 'a JPEG image', bytes: [0xff, 0xd8, 0xff], remedy: 'Run text recognition on it and submit the text.' },
  { name: 'a gzip file', bytes: [0x1f, 0x8b], remedy: 'Unpack it: gunzip FILE.gz' },
];

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

function fail(code: DocumentError['code'], message: string, remedy: string): ReadDocumentResult {
  return { ok: false, error: { code, field: 'input', message, remedy } };
}

/** Length of the well-formed UTF-8 sequence at `index`, by the table of RFC 3629; 0 when it is none. */
function sequenceLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (let offset = 1; offset < length; offset += 1) {
    const next = bytes[index + offset] ?? 0;
    if (next < 0x80 || next > 0xbf) return 0;
  }
  const second = bytes[index + 1] ?? 0;
  const overlong = (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90);
  const outside = (first === 0xed && second > 0x9f) || (first === 0xf4 && second > 0x8f);
  return overlong || outside ? 0 : length;
}

/** The offset of the first byte that is not UTF-8, or -1. */
export function findInvalidUtf8(bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; ) {
    const length = sequenceLength(bytes, index);
    if (length === 0) return index;
    index += length;
  }
  return -1;
}

function findBinary(bytes: Uint8Array, name: string): ReadDocumentResult | null {
  if (startsWith(bytes, [0xff, 0xfe]) || startsWith(bytes, [0xfe, 0xff])) {
    return fail(
      'DOCUMENT_ENCODING',
      `${name} is UTF-16 (byte order mark at byte 0), not UTF-8.`,
      'Convert it: iconv -f UTF-16 -t UTF-8 FILE > FILE.utf8.txt',
    );
  }
  const signature = SIGNATURES.find((candidate) => startsWith(bytes, candidate.bytes));
  return signature === undefined
    ? null
    : fail('DOCUMENT_BINARY', `${name} is ${signature.name}, not text.`, signature.remedy);
}

/** A document's text from the bytes of a file. Accepts .txt and .md in UTF-8, with or without a byte order mark. */
export function readDocument(bytes: Uint8Array, name: string): ReadDocumentResult {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const mediaType = MEDIA_TYPES.get(extension);
  if (bytes.length === 0) return fail('DOCUMENT_EMPTY', `${name} is empty.`, 'Send its text.');
  const binary = findBinary(bytes, name);
  if (binary !== null) return binary;
  if (mediaType === undefined)
    return fail(
      'DOCUMENT_TYPE',
      `${name} is none of .txt, .md, .docx, .pdf.`,
      'Save it as .docx or .pdf, or as plain text (.txt) or Markdown (.md) in UTF-8.',
    );
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    return fail(
      'DOCUMENT_TOO_LARGE',
      `${name} has ${bytes.length} bytes; at most ${MAX_DOCUMENT_BYTES} are read.`,
      'Split it into parts.',
    );
  }
  const nul = bytes.indexOf(0);
  if (nul !== -1)
    return fail(
      'DOCUMENT_NUL',
      `${name} holds a NUL byte at offset ${nul}, so it is no text.`,
      `Remove it: tr -d '\\000' < FILE > FILE.txt, or convert from UTF-16 with iconv.`,
    );
  const invalid = findInvalidUtf8(bytes);
  if (invalid !== -1) {
    return fail(
      'DOCUMENT_ENCODING',
      `${name} is not UTF-8: byte offset ${invalid} (0x${(bytes[invalid] ?? 0).toString(16)}) begins no character.`,
      'Convert it: iconv -f GB18030 -t UTF-8 FILE > FILE.utf8.txt (or -f WINDOWS-1252 for Western text).',
    );
  }
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  if (text.replace('\ufeff', '').trim() === '')
    return fail('DOCUMENT_EMPTY', `${name} holds only blanks.`, 'Send its text.');
  return { ok: true, document: { name, mediaType, text, bytes: bytes.length } };
}

/** Text extracted by a parser: removes what no text can hold, and refuses an empty one. */
export function toReadableText(
  raw: string,
  name: string,
  mediaType: ReadableDocument['mediaType'],
): ReadDocumentResult {
  const text = raw.replaceAll('\0', '').toWellFormed();
  const bytes = new TextEncoder().encode(text).length;
  if (text.trim() === '')
    return fail('DOCUMENT_EMPTY', `${name} holds no text.`, 'Send it with its text, not as a picture.');
  if (bytes > MAX_DOCUMENT_BYTES)
    return fail(
      'DOCUMENT_TOO_LARGE',
      `${name} holds ${bytes} bytes of text; at most ${MAX_DOCUMENT_BYTES} are read.`,
      'Split it into parts.',
    );
  return { ok: true, document: { name, mediaType, text, bytes } };
}
