import type { AccessLevel, KnowledgeType, Pin } from '@cleanslate/contracts';
import type { SourceMetadata, SourceParams } from '@cleanslate/domain';
import type { DeclaredParam } from './guard/read-params.ts';

/** What a source returned, before anybody judged or cleaned it. */
export type Hit = {
  readonly content: string;
  readonly locator: string;
  readonly title?: string;
  /** 0 to 1; values outside are clamped. */
  readonly score: number;
  /** UTC as `toISOString` prints it. */
  readonly validFrom?: string;
  readonly validUntil?: string;
  readonly version?: number;
  /** Shared by all versions of one thing: only the newest that holds is kept. */
  readonly series?: string;
  /** If it needs more clearance of its reader than the source as a whole. */
  readonly accessLevel?: AccessLevel;
  /** Default: the source's. */
  readonly knowledgeType?: KnowledgeType;
  /** Governed word by word: flagged, masked and dropped like all others, and otherwise left as it is. */
  readonly verbatim?: boolean;
};

export type FindContext = {
  readonly tenantId: string;
  /** Fires when the caller gives up and at the deadline. */
  readonly signal: AbortSignal;
  readonly limit: number;
  readonly pin: Pin | undefined;
  readonly clearance: AccessLevel;
};

/**
 * One kind of source. It knows its protocol and nothing of deadlines, breakers, tenants and cleaning: those are
 * `guarded`'s job.
 */
export type SourceAdapter = AsyncDisposable & {
  readonly kind: SourceMetadata['kind'];
  readonly freshness: SourceMetadata['freshness'];
  readonly params: readonly DeclaredParam[];
  /** Best first. Parameters are checked already. */
  find(params: SourceParams, context: FindContext): Promise<readonly Hit[]>;
  /**
   * Is it there, and is it what it was configured for? Throws what `find` would, or `CONFIGURATION`. Returns a short
   * description for a person.
   */
  check(signal: AbortSignal): Promise<string>;
};
