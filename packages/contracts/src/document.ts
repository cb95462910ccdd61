import { z } from 'zod';
import { FactRef, Sha256 } from './ids.ts';

/** Larger documents are refused at submit; the limit leaves room for JSON escapes below `max_payload`. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024 - 1;

export const MediaType = z.enum(['text/plain', 'text/markdown']);

/** A document as a client submits it: the whole text, unchanged. */
export const DocumentInput = z.strictObject({
  name: z.string().min(1).max(255),
  mediaType: MediaType,
  text: z
    .string()
    .min(1, 'the document is empty: send its text')
    .refine((text) => text.trim().length > 0, 'the document holds only blanks: send its text')
    .refine(
      (text) => !text.includes('\0'),
      'the document holds NUL characters, so it is not text: send .txt or .md in UTF-8',
    )
    .refine(
      (text) => new TextEncoder().encode(text).length <= MAX_DOCUMENT_BYTES,
      `the document is larger than ${MAX_DOCUMENT_BYTES} bytes: split it`,
    ),
});
export type DocumentInput = z.infer<typeof DocumentInput>;

/** A document as the ledger and all steps see it: by its content hash. */
export const DocumentRef = z.strictObject({
  name: z.string().min(1).max(255),
  mediaType: MediaType,
  sha256: Sha256,
  /** Length of the UTF-8 bytes. */
  bytes: z.int().positive(),
});
export type DocumentRef = z.infer<typeof DocumentRef>;

/** Any JSON value too large for a message (over 256 KiB), kept as an object of the ledger. */
export const ObjectRef = z.strictObject({
  $object: Sha256,
  bytes: z.int().positive(),
  /** Fact versions named in it: what an answer rests on must be found without fetching the object. */
  facts: z.array(FactRef).min(1).max(1_000).optional(),
});
export type ObjectRef = z.infer<typeof ObjectRef>;
export const MAX_INLINE_BYTES = 256 * 1024;
