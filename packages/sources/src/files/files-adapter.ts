import type { FindContext, Hit, SourceAdapter } from '../adapter.ts';
import { QUERY_PARAM } from '../guard/read-params.ts';
import { rankPassages } from '../passages/rank-passages.ts';
import { sourceError } from '../source-error.ts';
import { type FilePassage, toFilePassages } from './file-passages.ts';
import { type FolderBounds, type FoundFile, readFolder, readFoundFile } from './read-folder.ts';

export type FilesOptions = {
  readonly source: string;
  readonly folder: string;
  readonly bounds: FolderBounds;
  /** Text kept of all files together, in characters. */
  readonly maxChars: number;
  /** For reading one PDF or Word file, in milliseconds. */
  readonly maxReadMs: number;
  /** Called for a file that can't be read; the others are asked all the same. */
  readonly onUnreadable?: (path: string, why: string) => void;
};

type Kept = { readonly stamp: string; readonly passages: readonly FilePassage[]; readonly chars: number };

/**
 * A folder of Markdown, text, PDF and Word files, searched by words. What was read from a file is kept until the file
 * changes.
 */
export function filesAdapter(options: FilesOptions): SourceAdapter {
  const index = new FolderIndex(options);
  return {
    kind: 'files',
    freshness: 'live',
    params: [
      QUERY_PARAM,
      { name: 'path', type: 'string', required: false, description: 'files whose path begins so, such as policies/' },
    ],
    find: async ({ query, path }, { limit, signal }: FindContext): Promise<Hit[]> => {
      const all = await index.read(signal);
      const asked = path === undefined ? all : all.filter(({ locator }) => locator.startsWith(String(path)));
      const ranked = rankPassages(asked, ({ terms }) => terms, String(query), limit);
      return ranked.map(({ item: { text, locator, title }, score }) => ({ content: text, locator, title, score }));
    },
    check: async (signal) => {
      const passages = await index.read(signal);
      const { size, unreadable } = index;
      const rest = unreadable === 0 ? '' : `; ${unreadable} could not be read`;
      return `${size} files, ${passages.length} passages${rest}`;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

class FolderIndex {
  readonly #options: FilesOptions;
  #files = new Map<string, Kept>();
  #unreadable = new Map<string, string>();
  #reading: Promise<FilePassage[]> | undefined;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#files.size;
  }

  get unreadable(): number {
    return this.#unreadable.size;
  }

  /**
   * All passages of the folder as it is now. Callers at the same time share one reading, which goes on when one of them
   * gives up.
   */
  read(signal: AbortSignal): Promise<FilePassage[]> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    const reading = this.#reading;
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      reading.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }

  async #readAll(): Promise<FilePassage[]> {
    const { source, folder, bounds, maxChars } = this.#options;
    const found = await readFolder(source, folder, bounds);
    const files = new Map<string, Kept>();
    const unreadable = new Map<string, string>();
    let chars = 0;
    for (const file of found) {
      const kept = await this.#readOne(file, unreadable);
      if (kept === undefined) continue;
      chars += kept.chars;
      if (chars > maxChars)
        throw sourceError(
          'SOURCE_TOO_LARGE',
          source,
          `holds more than ${maxChars} characters of text: make it several sources`,
        );
      files.set(file.path, kept);
    }
    this.#files = files;
    this.#unreadable = unreadable;
    return [...files.values()].flatMap(({ passages }) => passages);
  }

  async #readOne(file: FoundFile, unreadable: Map<string, string>): Promise<Kept | undefined> {
    const { bounds, maxReadMs, onUnreadable } = this.#options;
    const known = this.#files.get(file.path);
    if (known?.stamp === file.stamp) return known;
    // Not tried again until it changes: a PDF may take seconds to fail.
    if (this.#unreadable.get(file.path) === file.stamp) {
      unreadable.set(file.path, file.stamp);
      return undefined;
    }
    const bytes = file.bytes > bounds.maxFileBytes ? undefined : await readFoundFile(file, bounds.maxFileBytes);
    const read =
      bytes === undefined
        ? ({ ok: false, why: `it is gone, or has more than ${bounds.maxFileBytes} bytes` } as const)
        : await toFilePassages(file.path, bytes, maxReadMs);
    if (read.ok) {
      const chars = read.passages.reduce((sum, { text }) => sum + text.length, 0);
      return { stamp: file.stamp, passages: read.passages, chars };
    }
    unreadable.set(file.path, file.stamp);
    onUnreadable?.(file.path, read.why);
    return undefined;
  }
}
