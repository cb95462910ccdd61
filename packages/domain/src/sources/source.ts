import { AccessLevel, type Pin } from '@cleanslate/contracts';
import { z } from 'zod';
import type { Evidence } from './evidence.ts';

/** The parameters of a source: one flat level, so that a plan can hold them and a person can read them. */
export const SourceParams = z.record(
  z.string().regex(/^[a-z][a-zA-Z0-9_]{0,39}$/),
  z.union([z.string().max(2_000), z.number(), z.boolean()]),
);
export type SourceParams = z.infer<typeof SourceParams>;

/** One parameter. `query` is by convention the question in plain words. */
export const SourceParam = z.strictObject({
  name: z.string().regex(/^[a-z][a-zA-Z0-9_]{0,39}$/),
  type: z.enum(['string', 'integer', 'number', 'boolean', 'date']),
  required: z.boolean(),
  description: z.string().max(300),
});
export type SourceParam = z.infer<typeof SourceParam>;

export const SOURCE_KINDS = ['knowledge', 'sql', 'http', 'files', 'qdrant', 'confluence'] as const;

/** What a planner has to know to choose a source and to ask it. */
export const SourceMetadata = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/),
  kind: z.enum(SOURCE_KINDS),
  /** What is in it, in a sentence. */
  title: z.string().min(1).max(300),
  /**
   * The least clearance that a reader needs for it. Single pieces may need more: those that the reader isn't cleared
   * for are left out.
   */
  accessLevel: AccessLevel,
  /** `pinned`: the same pin always gives the same answer; `live`: the answer of the moment it is asked. */
  freshness: z.enum(['pinned', 'live']),
  params: z.array(SourceParam).max(20),
});
export type SourceMetadata = z.infer<typeof SourceMetadata>;

export type SourceQueryOptions = {
  /** Ends the query: `CANCELLED`. */
  readonly signal: AbortSignal;
  /** Most pieces of evidence, 1 to 50. */
  readonly limit: number;
  /** The task's pin: what does not hold at its valid time is left out. Default: now. */
  readonly pin?: Pin;
  /** The reader's: evidence above it is left out. Default `internal`. */
  readonly clearance?: AccessLevel;
};

/** One source that can be asked, for one tenant. */
export type Source = {
  readonly name: string;
  readonly kind: SourceMetadata['kind'];
  metadata(): SourceMetadata;
  /**
   * Best first; an empty list is an answer too. Throws `INVALID_INPUT` (a parameter, named), `SOURCE_TIMEOUT`,
   * `SOURCE_UNAVAILABLE`, `SOURCE_BAD_ANSWER`, `SOURCE_TOO_LARGE`, `SOURCE_FORBIDDEN` (not for this clearance, refused
   * by the source, a private address), `CONFIGURATION` or `CANCELLED`.
   */
  query(params: SourceParams, options: SourceQueryOptions): Promise<Evidence[]>;
};

/** The sources of a platform. */
export type SourceCatalog = {
  /** What this tenant may ask, by name. */
  list(tenantId: string): readonly Source[];
  /** Throws `SOURCE_UNKNOWN`, also for a source of another tenant: nobody learns that it exists. */
  get(tenantId: string, name: string): Source;
};
