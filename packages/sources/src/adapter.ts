import type { AccessLevel, KnowledgeType, Pin } from '@cleanslate/contracts';
import type { SourceMetadata, SourceParams } from '@cleanslate/domain';
import type { DeclaredParam } from './guard/read-params.ts';

/** What a source gave, before anybody judged or cleaned it. */
export type Hit = {
  readonly content: string;
  readonly locator: string;
  readonly title?: string;
  /** 0 to 1; what lies outside is brought inside. */
  readonly score: number;
  /** UTC as `toISOString` prints it. */
  readonly validFrom?: string;
  readonly validUntil?: string;
  readonly version?: number;
  /** Versions of one thing share it: only the newest that holds is kept. */
  readonly series?: string;
  /** Where it needs more of its reader than the source as a whole. */
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

/** One kind of place to ask. Knows its protocol and nothing of deadlines, breakers, tenants and cleaning: those are `guarded`'s. */
export type SourceAdapter = AsyncDisposable & {
  readonly kind: SourceMetadata['kind'];
  readonly freshness: SourceMetadata['freshness'];
  readonly params: readonly DeclaredParam[];
  /** Best first. Parameters are checked already. */
  find(params: SourceParams, context: FindContext): Promise<readonly Hit[]>;
  /** Is it there, and what it was configured for? Throws what `find` would, or `CONFIGURATION`. Returns a word for a person. */
  check(signal: AbortSignal): Promise<string>;
};
