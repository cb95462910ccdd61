import { AccessLevel, Pin } from '@cleanslate/contracts';
import { Evidence, type SourceCatalog, SourceMetadata, SourceParams } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { z } from 'zod';

const MAX_EVIDENCE = 50;

/**
 * Asks one source of the tenant, for a step of any workflow: the evidence it found, cleaned, is the output; finding
 * nothing is an answer too.
 */
export function querySourceExecutor(sources: SourceCatalog): Executor {
  return defineExecutor({
    role: 'retriever',
    name: 'sources/query',
    input: z.strictObject({
      source: SourceMetadata.shape.name,
      /** The question in plain words: `params.query`, which most sources take. */
      query: z.string().min(1).max(2_000).optional(),
      params: SourceParams.default({}),
      limit: z.int().min(1).max(MAX_EVIDENCE).default(8),
      clearance: AccessLevel.default('internal'),
      pin: Pin,
    }),
    output: z.strictObject({ evidence: z.array(Evidence).max(MAX_EVIDENCE) }),
    run: async ({ input, tenantId, signal, logger }) => {
      const { source, query, limit, clearance, pin } = input;
      const params = query === undefined ? input.params : { ...input.params, query };
      const evidence = await sources.get(tenantId, source).query(params, { limit, clearance, pin, signal });
      logger.info({ source, evidence: evidence.length }, 'source asked');
      return { evidence };
    },
  });
}

/** What this tenant may ask, and with which parameters: for a planner that chooses. */
export function listSourcesExecutor(sources: SourceCatalog): Executor {
  return defineExecutor({
    role: 'retriever',
    name: 'sources/list',
    pure: true,
    input: z.strictObject({}),
    output: z.strictObject({ sources: z.array(SourceMetadata) }),
    run: ({ tenantId }) => ({ sources: sources.list(tenantId).map((source) => source.metadata()) }),
  });
}
