import { strFromU8, strToU8, zipSync } from 'fflate';
import mammoth from 'mammoth';
import { unzipBounded } from './bounded-unzip.ts';
import type { Bounds } from './bounds.ts';
import { DocumentFault } from './document-fault.ts';

const MAIN = 'word/document.xml';
/** The parts that hold text or say which part holds it. Pictures, fonts and macros stay packed. */
const TEXT_PART =
  /^(?:\[Content_Types\]\.xml|_rels\/\.rels|word\/(?:document|footnotes|endnotes|styles|numbering)\.xml|word\/_rels\/document\.xml\.rels)$/;

/**
 * The text of a Word file (.docx): its paragraphs, table cells, foot- and endnotes, with tracked changes applied.
 * Throws `DocumentFault`.
 */
export async function readDocxText(bytes: Uint8Array, bounds: Bounds): Promise<string> {
  const parts = unzipBounded(bytes, (name) => TEXT_PART.test(name), bounds);
  const main = parts.get(MAIN);
  if (main === undefined)
    throw new DocumentFault(
      'DOCUMENT_BINARY',
      'The file is a ZIP file without a Word document in it.',
      'Send the .docx, .pdf, .txt or .md file itself.',
    );
  // An entity can name a file or itself ten times; Word writes neither kind.
  for (const [name, part] of parts) {
    if (Buffer.from(part.buffer, part.byteOffset, part.byteLength).includes('<!DOCTYPE'))
      throw new DocumentFault(
        'DOCUMENT_DAMAGED',
        `${name} declares a document type, which no Word file does.`,
        'Save it again from Word.',
      );
  }
  const texts = [await rawText(parts)];
  for (const notes of ['word/footnotes.xml', 'word/endnotes.xml']) {
    const part = parts.get(notes);
    if (part !== undefined) texts.push(await rawText(new Map([...parts, [MAIN, toBody(part)]])));
  }
  return texts.join('\n');
}

/** Only what was counted is read: a second directory inside the file can't smuggle other parts in. */
async function rawText(parts: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const repacked = zipSync(Object.fromEntries(parts), { level: 0 });
  const { value } = await mammoth.extractRawText({ buffer: Buffer.from(repacked) });
  return value;
}

/** Notes as a document of their own, because the reader returns only the body's text. */
function toBody(notes: Uint8Array): Uint8Array {
  const xml = strFromU8(notes)
    .replace(/<(\/?)w:(?:foot|end)notes\b/g, '<$1w:document')
    .replace(/(<w:document\b[^>]*>)/, '$1<w:body>')
    .replace('</w:document>', '</w:body></w:document>')
    .replace(/<\/?w:(?:foot|end)note\b[^>]*>/g, '');
  return strToU8(xml);
}
