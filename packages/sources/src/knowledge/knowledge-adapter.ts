import { AccessLevel, type FactView, type Pin } from '@cleanslate/contracts';
import type { FindContext, Hit, SourceAdapter } from '../adapter.ts';
import { QUERY_PARAM } from '../guard/read-params.ts';
import { isCleared } from '../guard/to-evidence.ts';

export type KnowledgeQuestion = {
  readonly tenantId: string;
  readonly query: string;
  /** Undefined: now, at the last revision. */
  readonly pin: Pin | undefined;
  readonly accessLevels: readonly AccessLevel[];
  /** Only knowledge ids that begin like this. */
  readonly prefix: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
};

/** The knowledge base, provided by whoever has a database. */
export type KnowledgePort = {
  search(question: KnowledgeQuestion): Promise<readonly { readonly fact: FactView; readonly score: number }[]>;
  check(signal: AbortSignal): Promise<string>;
};

/**
 * Governed facts at the task's pin: the same pin finds the same. Statements stay word for word, because they are quoted
 * as they were governed.
 */
export function knowledgeAdapter(port: KnowledgePort): SourceAdapter {
  return {
    kind: 'knowledge',
    freshness: 'pinned',
    params: [
      QUERY_PARAM,
      { name: 'prefix', type: 'string', required: false, description: 'knowledge ids that begin so', maxLength: 63 },
    ],
    find: async ({ query, prefix }, context) => {
      const found = await port.search({
        query: String(query),
        prefix: prefix === undefined ? undefined : String(prefix),
        tenantId: context.tenantId,
        pin: context.pin,
        limit: context.limit,
        signal: context.signal,
        accessLevels: levelsFor(context),
      });
      return found.map(({ fact, score }) => toHit(fact, score));
    },
    check: (signal) => port.check(signal),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Part of the question, so that what a reader may not see takes nobody's place. */
function levelsFor({ clearance }: FindContext): AccessLevel[] {
  return AccessLevel.options.filter((level) => isCleared(level, clearance));
}

function toHit(fact: FactView, score: number): Hit {
  const { knowledgeId, version, statement, validFrom, validUntil, knowledgeType, accessLevel, sensitivity } = fact;
  return {
    content: statement,
    score,
    version,
    knowledgeType,
    verbatim: true,
    locator: `${knowledgeId}@${version}`,
    title: knowledgeId,
    series: knowledgeId,
    accessLevel: sensitivity === 'secret' ? 'restricted' : accessLevel,
    ...(validFrom === null ? {} : { validFrom }),
    ...(validUntil === null ? {} : { validUntil }),
  };
}
