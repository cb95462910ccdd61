import { open, stat } from 'node:fs/promises';
import { MAX_BODY_BYTES } from '@cleanslate/contracts';
import { inputError } from '../input-error.ts';

/**
 * The bytes of a file, or of stdin for `-`. Refuses anything but a readable file of acceptable size before reading it;
 * `split`: the remedy for one that is too large.
 */
export async function readBytes(
  file: string,
  where: string,
  { maxBytes = MAX_BODY_BYTES, split = 'split it' } = {},
): Promise<Uint8Array> {
  const tooLarge = (name: string, bytes: number) =>
    inputError({
      code: 'PAYLOAD_TOO_LARGE',
      what: `${name} has ${bytes} bytes; at most ${maxBytes} are read`,
      where,
      remedy: split,
    });
  if (file === '-') return await collect(process.stdin, maxBytes, (size) => tooLarge('stdin', size));
  const found = await stat(file).catch((error: unknown) => {
    throw unreadable(file, where, error);
  });
  if (found.isDirectory()) throw inputError({ what: `${file} is a folder`, where, remedy: 'name one file' });
  if (found.size > maxBytes) throw tooLarge(file, found.size);
  const handle = await open(file).catch((error: unknown) => {
    throw unreadable(file, where, error);
  });
  try {
    // Counted while reading: a device or a pipe has no size, and may have no end.
    return await collect(handle.createReadStream({ autoClose: false }), maxBytes, (size) => tooLarge(file, size));
  } finally {
    await handle.close();
  }
}

async function collect(
  source: AsyncIterable<unknown>,
  maxBytes: number,
  tooLarge: (size: number) => Error,
): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of source) {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    size += bytes.length;
    if (size > maxBytes) throw tooLarge(size);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

function unreadable(file: string, where: string, error: unknown) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const [what, remedy] =
    code === 'ENOENT'
      ? [`there is no file ${file}`, 'check the path; it is taken from the folder you are in']
      : [`${file} can't be read (${String(code ?? error)})`, 'check its permissions'];
  return inputError({ what, where, remedy }, error);
}
