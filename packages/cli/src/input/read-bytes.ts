import { open, stat } from 'node:fs/promises';
import { MAX_BODY_BYTES } from '@cleanslate/contracts';
import { inputError } from '../input-error.ts';

/** The bytes of a file, or of stdin for `-`. Refuses what isn't a readable, not too large file before reading it. */
export async function readBytes(file: string, where: string, maxBytes = MAX_BODY_BYTES): Promise<Uint8Array> {
  if (file === '-') return await collect(process.stdin, 'stdin', where, maxBytes);
  const found = await stat(file).catch((error: unknown) => {
    throw unreadable(file, where, error);
  });
  if (found.isDirectory()) throw inputError({ what: `${file} is a folder`, where, remedy: 'name one file' });
  if (found.size > maxBytes) throw tooLarge(file, found.size, where, maxBytes);
  const handle = await open(file).catch((error: unknown) => {
    throw unreadable(file, where, error);
  });
  try {
    // Counted as they come: a device or a pipe tells no size, and may have no end.
    return await collect(handle.createReadStream({ autoClose: false }), file, where, maxBytes);
  } finally {
    await handle.close();
  }
}

async function collect(
  source: AsyncIterable<unknown>,
  name: string,
  where: string,
  maxBytes: number,
): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of source) {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    size += bytes.length;
    if (size > maxBytes) throw tooLarge(name, size, where, maxBytes);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

function tooLarge(file: string, bytes: number, where: string, maxBytes: number) {
  return inputError({
    code: 'PAYLOAD_TOO_LARGE',
    what: `${file} has ${bytes} bytes; at most ${maxBytes} are read`,
    where,
    remedy: 'split it',
  });
}

function unreadable(file: string, where: string, error: unknown) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const [what, remedy] =
    code === 'ENOENT'
      ? [`there is no file ${file}`, 'check the path; it is taken from the folder you are in']
      : [`${file} can't be read (${String(code ?? error)})`, 'check its permissions'];
  return inputError({ what, where, remedy }, error);
}
