import { createWriteStream, type WriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';

const ROTATE_BYTES = 50 * 1024 * 1024;

/** The one log of a stack: JSON lines. What isn't JSON already (broker, database) is wrapped with its source. */
export type StackLog = {
  /** A listener for the lines of one process. */
  of(source: string): (line: string) => void;
  close(): Promise<void>;
};

export async function openStackLog(file: string): Promise<StackLog> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > ROTATE_BYTES) await rename(file, `${file}.1`);
  let stream: WriteStream | undefined = openToAppend();
  return {
    of: (source) => (line) => {
      const json = line.startsWith('{');
      stream ??= openToAppend();
      stream.write(
        json ? `${line}\n` : `${JSON.stringify({ time: new Date().toISOString(), service: source, msg: line })}\n`,
      );
    },
    close: () => new Promise((resolve) => (stream ? stream.end(() => resolve()) : resolve())),
  };

  /** A full disk must not end the stack. A stream that failed once takes no more: the line after it tries anew. */
  function openToAppend(): WriteStream {
    return createWriteStream(file, { flags: 'a', mode: 0o600 }).on('error', () => {
      stream = undefined;
    });
  }
}
