import { Unzip, UnzipInflate } from 'fflate';
import type { Bounds } from './bounds.ts';
import { DocumentFault } from './document-fault.ts';

const CHUNK = 64 * 1024;
const MAX_PARTS = 5_000;

function tooLarge(message: string): DocumentFault {
  return new DocumentFault('DOCUMENT_TOO_LARGE', message, 'Save the text alone: File → Save as → Plain text (UTF-8).');
}

/**
 * The wanted parts of a ZIP file. Every part is counted while it inflates, whatever the headers say of its size:
 * anything that unpacks beyond the bounds stops there. Throws `DocumentFault`.
 */
export function unzipBounded(
  bytes: Uint8Array,
  wanted: (name: string) => boolean,
  bounds: Pick<Bounds, 'maxInflatedBytes' | 'maxRatio'>,
): Map<string, Uint8Array> {
  const limit = Math.min(bounds.maxInflatedBytes, bytes.length * bounds.maxRatio);
  const parts = new Map<string, Uint8Array[]>();
  let inflated = 0;
  let seen = 0;
  const unzip = new Unzip((file) => {
    seen += 1;
    if (seen > MAX_PARTS) throw tooLarge(`The file holds more than ${MAX_PARTS} parts.`);
    if (!wanted(file.name)) return;
    // Two parts of the same name allow two readings of one document.
    if (parts.has(file.name))
      throw new DocumentFault('DOCUMENT_DAMAGED', `The file holds ${file.name} twice.`, 'Save it again.');
    const chunks: Uint8Array[] = [];
    parts.set(file.name, chunks);
    file.ondata = (error, data) => {
      if (error !== null) throw error;
      inflated += data.length;
      if (inflated > limit) throw tooLarge(`The file unpacks to more than ${limit} bytes.`);
      chunks.push(data.slice());
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  for (let at = 0; at < bytes.length; at += CHUNK)
    unzip.push(bytes.subarray(at, at + CHUNK), at + CHUNK >= bytes.length);
  return new Map([...parts].map(([name, chunks]) => [name, Buffer.concat(chunks)]));
}
