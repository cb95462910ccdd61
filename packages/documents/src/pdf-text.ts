import { getDocumentProxy, getResolvedPDFJS } from 'unpdf';
import type { Bounds } from './bounds.ts';
import { DocumentFault } from './document-fault.ts';

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
type Page = Awaited<ReturnType<Pdf['getPage']>>;
type Item = Awaited<ReturnType<Page['getTextContent']>>['items'][number];

/** Between pages: what `pdftotext` writes too, so offsets tell the page. */
const PAGE_BREAK = '\n\f';
/** More than a line's pitch: a new paragraph. */
const PARAGRAPH_GAP = 1.6;

/** Lines as typeset; a larger gap between two becomes a blank line, since paragraphs are recognised by those. */
function toText(items: readonly Item[]): string {
  let text = '';
  let baseline: number | null = null;
  let height = 0;
  for (const item of items) {
    if (!('str' in item)) continue;
    const y = Number(item.transform[5]);
    const onNewLine = baseline !== null && Math.abs(baseline - y) > Math.max(1, height * 0.5);
    if (onNewLine) {
      const gap = baseline === null ? 0 : baseline - y;
      if (!text.endsWith('\n')) text += '\n';
      if (height > 0 && (gap > height * PARAGRAPH_GAP || gap < 0)) text += '\n';
    }
    text += item.str;
    if (item.str.trim() !== '') {
      baseline = y;
      height = item.height > 0 ? item.height : height;
    }
  }
  return text;
}

async function holdsPicture(page: Page): Promise<boolean> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray } = await page.getOperatorList();
  const pictures = new Set([OPS.paintImageXObject, OPS.paintInlineImageXObject, OPS.paintImageMaskXObject]);
  return fnArray.some((operator) => pictures.has(operator));
}

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    // No script, no font file and no picture of the document is evaluated or fetched.
    return await getDocumentProxy(bytes, {
      disableFontFace: true,
      verbosity: 0,
      stopAtErrors: true,
    });
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'PasswordException')
      throw new DocumentFault(
        'DOCUMENT_ENCRYPTED',
        'The PDF is protected by a password.',
        'Save a copy without one: qpdf --decrypt --password=… IN.pdf OUT.pdf',
      );
    throw new DocumentFault(
      'DOCUMENT_DAMAGED',
      'The PDF cannot be read: its structure is broken.',
      'Open it and print it to a new PDF, or: mutool clean IN.pdf OUT.pdf',
    );
  }
}

/**
 * The text of a PDF, page by page with a form feed between. Throws `DocumentFault`, also for a page that is only a
 * picture: unreadable is not the same as absent.
 */
export async function readPdfText(bytes: Uint8Array, bounds: Bounds): Promise<string> {
  const pdf = await open(bytes);
  if (pdf.numPages > bounds.maxPages)
    throw new DocumentFault(
      'DOCUMENT_TOO_LARGE',
      `The PDF has ${pdf.numPages} pages; at most ${bounds.maxPages} are read.`,
      'Split it: qpdf IN.pdf --pages . 1-500 -- OUT.pdf',
    );
  const pages: string[] = [];
  const pictures: number[] = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const text = toText((await page.getTextContent()).items);
    length += text.length;
    if (length > bounds.maxTextBytes)
      throw new DocumentFault(
        'DOCUMENT_TOO_LARGE',
        `The PDF holds more than ${bounds.maxTextBytes} characters.`,
        'Split it: qpdf IN.pdf --pages . 1-100 -- OUT.pdf',
      );
    if (text.trim() === '' && (await holdsPicture(page))) pictures.push(number);
    // A form feed in the page's own text would count as another page.
    pages.push(text.replaceAll('\f', ' '));
    page.cleanup();
  }
  refuseScans(pictures, pdf.numPages);
  return pages.join(PAGE_BREAK);
}

function refuseScans(pictures: readonly number[], pages: number): void {
  if (pictures.length === 0) return;
  const which =
    pictures.length === pages
      ? `all ${pages} pages are`
      : `page ${pictures.slice(0, 10).join(', ')} ${pictures.length === 1 ? 'is' : 'and maybe others are'}`;
  throw new DocumentFault(
    'DOCUMENT_SCANNED',
    `The PDF is a scan: ${which} pictures without text.`,
    'Recognise its text first: ocrmypdf IN.pdf OUT.pdf',
  );
}
