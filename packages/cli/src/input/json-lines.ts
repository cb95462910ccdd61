import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import { inputError } from '../input-error.ts';
import type { Terminal } from '../terminal.ts';

export type JsonLinesOptions = {
  /** Continue after the last complete line; otherwise the file must not exist yet. */
  readonly resume: boolean;
  /** The field by which the lines are ordered. */
  readonly key: string;
  readonly terminal: Terminal;
};

export type JsonLines = AsyncDisposable & {
  /** From the last complete line: where the next begins, and the revision it was read at. */
  readonly after: string | undefined;
  readonly revision: number | undefined;
  write(lines: readonly object[]): Promise<void>;
};

/** A line is at most as long as a message. */
const TAIL_BYTES = 16 * 1024 ** 2;

/**
 * Opens a file for lines of JSON; `-` is stdout. Throws `INVALID_INPUT` if it exists and must not be continued, or is
 * not one of ours.
 */
export async function openJsonLines(path: string, { resume, key, terminal }: JsonLinesOptions): Promise<JsonLines> {
  if (path === '-') {
    if (resume)
      throw inputError({ what: 'stdout can not be gone on with', where: '--resume', remedy: 'write to a file' });
    const write = async (lines: readonly object[]) => {
      for (const line of lines) terminal.out(JSON.stringify(line));
    };
    return { after: undefined, revision: undefined, write, [Symbol.asyncDispose]: async () => undefined };
  }
  const file = await openFile(path, resume);
  try {
    const { last, end } = resume ? await readLast(file, path, key) : { last: undefined, end: 0 };
    await file.truncate(end);
    let at = end;
    const write = async (lines: readonly object[]) => {
      const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await file.write(bytes, 0, bytes.length, at);
      at += bytes.length;
    };
    return { after: last?.after, revision: last?.revision, write, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openFile(path: string, resume: boolean): Promise<FileHandle> {
  try {
    return await open(path, resume ? 'r+' : 'wx');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST')
      throw inputError({
        what: `${path} is there already`,
        where: '--out',
        remedy: 'go on with it by --resume, or choose another name',
      });
    if (resume && code === 'ENOENT') return await openFile(path, false);
    throw inputError(
      { what: `${path} can not be written: ${String(code)}`, where: '--out', remedy: 'choose another place' },
      error,
    );
  }
}

/** The last complete line; whatever an interrupted run left after it is cut off. */
async function readLast(file: FileHandle, path: string, key: string) {
  const { size } = await file.stat();
  const from = Math.max(0, size - TAIL_BYTES);
  const tail = Buffer.alloc(size - from);
  await file.read(tail, 0, tail.length, from);
  const stop = tail.lastIndexOf(10);
  if (stop < 0) return { last: undefined, end: 0 };
  const text = tail.subarray(tail.lastIndexOf(10, stop - 1) + 1, stop).toString('utf8');
  const Line = z.object({ exportedAt: z.int().nonnegative(), [key]: z.union([z.string(), z.int()]) });
  const parsed = Line.safeParse(parse(text));
  if (!parsed.success)
    throw inputError({
      what: `the last line of ${path} is none of this export`,
      where: '--resume',
      remedy: 'choose another file',
    });
  return {
    last: { after: String(parsed.data[key]), revision: Number(parsed.data['exportedAt']) },
    end: from + stop + 1,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
