import { setImmediate } from 'node:timers/promises';
import { pageOf, pageStarts, readDocumentFile } from '@cleanslate/documents';
import { countTerms, type Terms } from '../passages/rank-passages.ts';
import { splitPassages, toSearchText } from '../passages/split-passages.ts';

export type FilePassage = {
  readonly text: string;
  /** `handbook.pdf#page=3`, `leave.md#L12-L18`, `terms.docx#passage=5`. */
  readonly locator: string;
  readonly title: string;
  readonly terms: Terms;
};

export type ReadPassages =
  | { readonly ok: true; readonly passages: readonly FilePassage[] }
  /** Why it can't be read, in a sentence. */
  | { readonly ok: false; readonly why: string };

/** Longest use of the event loop at a time. */
const TURN_MS = 20;

/** The passages of a file, each with its location. */
export async function toFilePassages(path: string, bytes: Uint8Array, maxMs: number): Promise<ReadPassages> {
  const name = path.split('/').at(-1) ?? path;
  const read = await readDocumentFile(bytes, name, { maxMs });
  if (!read.ok) return { ok: false, why: read.error.message };
  const { text } = read.document;
  const locate = toLocator(path, text, /\.docx$/i.test(name));
  const passages: FilePassage[] = [];
  let since = performance.now();
  for (const [index, passage] of splitPassages(text).entries()) {
    passages.push({
      text: passage.text,
      locator: locate(passage.start, passage.end, index),
      title: [name, ...passage.headings].join(' › ').slice(0, 300),
      terms: countTerms(toSearchText(passage)),
    });
    // A long text takes seconds; heartbeats must not wait for it.
    if (performance.now() - since < TURN_MS) continue;
    await setImmediate();
    since = performance.now();
  }
  return { ok: true, passages };
}

type Locate = (start: number, end: number, index: number) => string;

/** Pages if there are any, otherwise lines; nobody sees the lines of a Word file's text. */
function toLocator(path: string, text: string, isWord: boolean): Locate {
  const pages = pageStarts(text);
  if (/\.pdf$/i.test(path)) {
    const taken = new Map<number, number>();
    return (start) => {
      const page = pageOf(pages, start) ?? 1;
      const nth = (taken.get(page) ?? 0) + 1;
      taken.set(page, nth);
      return `${path}#page=${page}${nth === 1 ? '' : `&passage=${nth}`}`;
    };
  }
  if (isWord) return (_start, _end, index) => `${path}#passage=${index + 1}`;
  const lines = lineStarts(text);
  return (start, end) => `${path}#L${lineOf(lines, start)}-L${lineOf(lines, Math.max(start, end - 1))}`;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineOf(starts: readonly number[], offset: number): number {
  return pageOf(starts, offset) ?? 1;
}
