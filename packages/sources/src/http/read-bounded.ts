import type { Readable } from 'node:stream';

/**
 * A body's bytes; undefined if there are more than `maxBytes`: then the rest is never read, and its connection is
 * closed.
 */
export async function readBounded(body: Readable, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    size += bytes.length;
    // Leaving the loop destroys the stream.
    if (size > maxBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
