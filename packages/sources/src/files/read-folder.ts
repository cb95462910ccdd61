import { constants, type Dirent } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { sourceError } from '../source-error.ts';

export type FolderBounds = {
  readonly maxFiles: number;
  readonly maxDepth: number;
  readonly maxFileBytes: number;
};

export type FoundFile = {
  /** Relative to the folder, with `/` between. */
  readonly path: string;
  /** Real path: inside the folder, without a link on the way. */
  readonly real: string;
  readonly bytes: number;
  /** Changes whenever the file does. */
  readonly stamp: string;
};

const READABLE = /\.(?:md|markdown|txt|text|pdf|docx)$/i;

/**
 * The readable files of a folder and those below it, by path. Links count if they end inside the folder (a mounted
 * ConfigMap consists of such); whatever leads out of it, hidden files and special files are skipped. Throws
 * `SOURCE_UNAVAILABLE` for a folder that can't be read, `SOURCE_TOO_LARGE` beyond the bounds.
 */
export async function readFolder(source: string, folder: string, bounds: FolderBounds): Promise<FoundFile[]> {
  const root = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
    throw sourceError(
      'SOURCE_UNAVAILABLE',
      source,
      `has no readable folder (${error.code}): check that it is mounted`,
      { cause: error },
    );
  });
  const found: FoundFile[] = [];
  const seen = new Set<string>();
  await walk('', root, 0);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));

  async function walk(path: string, real: string, depth: number): Promise<void> {
    // A link to a parent folder would lead round in circles.
    if (seen.has(real)) return;
    seen.add(real);
    if (depth > bounds.maxDepth)
      throw sourceError('SOURCE_TOO_LARGE', source, `has folders nested deeper than ${bounds.maxDepth}: flatten them`);
    for (const entry of await readdir(real, { withFileTypes: true })) {
      if (!entry.name.startsWith('.'))
        await take(entry, path === '' ? entry.name : `${path}/${entry.name}`, real, depth);
    }
  }

  async function take(entry: Dirent, path: string, parent: string, depth: number): Promise<void> {
    const real = await realpath(join(parent, entry.name)).catch(() => undefined);
    if (real === undefined || !isInside(root, real)) return;
    const info = await stat(real).catch(() => undefined);
    if (info?.isDirectory() === true) return await walk(path, real, depth + 1);
    if (info?.isFile() !== true || !READABLE.test(entry.name)) return;
    if (found.length === bounds.maxFiles)
      throw sourceError('SOURCE_TOO_LARGE', source, `has more than ${bounds.maxFiles} files: make it several sources`);
    found.push({ path, real, bytes: info.size, stamp: `${info.ino}-${info.size}-${info.mtimeMs}` });
  }
}

function isInside(root: string, real: string): boolean {
  const way = relative(root, real);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

/**
 * The bytes of a file; undefined if it is gone, larger than allowed or no longer a plain file. A link that took its
 * place is not followed.
 */
export async function readFoundFile({ real }: FoundFile, maxBytes: number): Promise<Buffer | undefined> {
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return undefined;
  try {
    const info = await file.stat();
    if (!info.isFile() || info.size > maxBytes) return undefined;
    return await file.readFile();
  } finally {
    await file.close();
  }
}
