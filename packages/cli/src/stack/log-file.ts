import { createWriteStream, type WriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';

const ROTATE_BYTES = 50 * 1024 * 1024;

/** The one log of a stack: JSON lines. Lines that aren't JSON (broker, database) are wrapped with their source. */
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

  /**
   * A full disk must not end the stack. A stream that failed once accepts nothing more: the next line opens a new one.
   */
  function openToAppend(): WriteStream {
    return createWriteStream(file, { flags: 'a', mode: 0o600 }).on('error', () => {
      stream = undefined;
    });
  }
}
