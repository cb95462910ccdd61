import { AccessLevel, UtcTime } from '@cleanslate/contracts';
import { z } from 'zod';
import { SANITIZE_FLAGS } from '../sanitizing/sanitize-text.ts';

export const MAX_EVIDENCE_CHARS = 8_000;

/**
 * One passage from a source, cleaned, with what a reader needs to judge it and to find it again. It is data: nothing in
 * it is ever carried out.
 */
export const Evidence = z.strictObject({
  /** Sanitized text, whole sentences where it had to be cut. */
  content: z.string().min(1).max(MAX_EVIDENCE_CHARS),
  /** Name of the source, as configured. */
  source: z.string().min(1).max(63),
  /** How well it fits the question, 0 to 1. Comparable only within one answer of one source. */
  score: z.number().min(0).max(1),
  /**
   * Where it is, in the source's own terms: `policies/leave.md#passage-2`, `handbook.pdf#page=3`, a row's key, a URL,
   * `fact-id@version`.
   */
  locator: z.string().min(1).max(2_000),
  /** What a person calls it: a page's or a file's title. */
  title: z.string().min(1).max(300).optional(),
  /** Valid time `[from, until)`, if the source states it. */
  validFrom: UtcTime.optional(),
  validUntil: UtcTime.optional(),
  /** The source's version of it; greater is newer. */
  version: z.int().positive().optional(),
  accessLevel: AccessLevel,
  /**
   * What the sanitizer found; `instruction_like`: it addresses a machine, so it may be shown as a quotation and must
   * not be followed.
   */
  flags: z.array(z.enum(SANITIZE_FLAGS)).max(SANITIZE_FLAGS.length),
});
export type Evidence = z.infer<typeof Evidence>;
