import { AppError } from '@cleanslate/contracts';
import type { SourceParams } from '@cleanslate/domain';
import { z } from 'zod';
import type { FindContext, Hit, SourceAdapter } from '../adapter.ts';
import { type DeclaredParam, QUERY_PARAM } from '../guard/read-params.ts';
import { checkStatus } from '../http/check-status.ts';
import { createGuardedFetch, type FetchOptions, type GuardedFetch } from '../http/guarded-fetch.ts';
import { readAnswer } from '../mapping/read-answer.ts';
import { readJson } from '../mapping/read-json.ts';
import { type RecordMapping, toHit } from '../mapping/record-to-hit.ts';

/** What turns a question into a vector; the provider of `packages/llm` is one. */
export type Embedder = {
  readonly space: { readonly model: string; readonly dimension: number };
  embed(texts: readonly string[], signal?: AbortSignal): Promise<(Float32Array | null)[]>;
};

export type QdrantOptions = FetchOptions & {
  /** Base URL, such as `http://qdrant:6333`. */
  readonly url: string;
  readonly collection: string;
  readonly credentials: Readonly<Record<string, string>>;
  /** Named vector; undefined: the collection's only one. */
  readonly vector: string | undefined;
  /** Payload key that holds the tenant; a question sees its own tenant's points only. */
  readonly tenantField: string | undefined;
  /** Payload keys that must match: a fixed value, or that of a parameter if it is given. */
  readonly filters: readonly ({ readonly key: string } & ({ readonly value: string } | { readonly param: string }))[];
  readonly params: readonly DeclaredParam[];
  readonly minScore: number | undefined;
  readonly mapping: RecordMapping;
  readonly embedder: Embedder;
};

type Distance = 'Cosine' | 'Dot' | 'Euclid' | 'Manhattan';
const VectorParams = z.object({ size: z.int(), distance: z.enum(['Cosine', 'Dot', 'Euclid', 'Manhattan']) });
const Collection = z.object({
  result: z.object({
    points_count: z.int().nullish(),
    config: z.object({ params: z.object({ vectors: z.union([VectorParams, z.record(z.string(), VectorParams)]) }) }),
  }),
});
const Points = z.object({
  result: z.object({
    points: z.array(
      z.object({
        id: z.union([z.string(), z.number()]),
        // An exact text if JavaScript would write the number differently.
        score: z.union([z.number(), z.string().transform(Number)]).pipe(z.number()),
        payload: z.record(z.string(), z.unknown()).nullish(),
      }),
    ),
  }),
});

/**
 * A collection of a Qdrant server over its REST interface. The question is embedded here, by the model that filled the
 * collection.
 */
export function qdrantAdapter(options: QdrantOptions): SourceAdapter {
  const guarded = createGuardedFetch(options);
  let known: { readonly distance: Distance } | undefined;
  const find = async (params: SourceParams, context: FindContext): Promise<Hit[]> => {
    const { source, embedder, vector, minScore } = options;
    const { limit, signal } = context;
    // Another model's vectors of the same length would give meaningless neighbours; of another length, an error at
    // every question.
    known ??= await readCollection(guarded, options, signal);
    const { distance } = known;
    const [values] = await embedder.embed([String(params['query'])], signal);
    if (!values) return [];
    const body = {
      query: [...values],
      limit,
      with_payload: true,
      ...(vector === undefined ? {} : { using: vector }),
      ...(minScore === undefined ? {} : { score_threshold: minScore }),
      filter: { must: toConditions(options, params, context.tenantId) },
    };
    const answer = await ask(guarded, options, 'POST', '/points/query', signal, JSON.stringify(body)).catch((error) => {
      // The collection may have been recreated.
      known = undefined;
      throw error;
    });
    const { result } = readAnswer(source, Points, answer);
    return result.points.flatMap(({ id, score, payload }) => {
      const record = { ...payload, point_id: id, collection: options.collection };
      return toHit(source, options.mapping, record, toScore(distance, score)) ?? [];
    });
  };
  return {
    kind: 'qdrant',
    freshness: 'live',
    params: [QUERY_PARAM, ...options.params],
    find,
    check: async (signal) => {
      const { points } = await readCollection(guarded, options, signal);
      return `collection ${options.collection}${points === undefined ? '' : `, ${points} points`}`;
    },
    [Symbol.asyncDispose]: () => guarded[Symbol.asyncDispose](),
  };
}

async function ask(
  guarded: GuardedFetch,
  { source, url, collection, credentials }: QdrantOptions,
  method: 'GET' | 'POST',
  path: string,
  signal: AbortSignal,
  body?: string,
): Promise<unknown> {
  const address = new URL(`${url.replace(/\/+$/, '')}/collections/${encodeURIComponent(collection)}${path}`);
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await guarded.fetch(address, {
    method,
    headers,
    credentials,
    signal,
    ...(body === undefined ? {} : { body }),
  });
  if (answer.status === 404)
    throw new AppError('CONFIGURATION', `source "${source}": Qdrant has no collection "${collection}": check its name`);
  checkStatus(source, answer);
  return readJson(source, answer.body);
}

/**
 * How it measures and how much it holds. Throws `CONFIGURATION` if its vectors have another length than the embedder's.
 */
async function readCollection(guarded: GuardedFetch, options: QdrantOptions, signal: AbortSignal) {
  const { source, collection, vector, embedder } = options;
  const { result } = readAnswer(source, Collection, await ask(guarded, options, 'GET', '', signal));
  const { vectors } = result.config.params;
  const single = VectorParams.safeParse(vectors);
  const named = single.success ? undefined : (vectors as Record<string, z.infer<typeof VectorParams>>);
  const found = vector === undefined ? (single.success ? single.data : undefined) : named?.[vector];
  if (found === undefined) {
    const names = Object.keys(named ?? {}).join(', ');
    throw new AppError(
      'CONFIGURATION',
      `source "${source}": collection "${collection}" ${names === '' ? 'has one vector without a name: leave vector out' : `has the vectors ${names}: name one as vector`}`,
    );
  }
  if (found.size !== embedder.space.dimension)
    throw new AppError(
      'CONFIGURATION',
      `source "${source}": collection "${collection}" holds vectors of ${found.size} numbers, ${embedder.space.model} makes ${embedder.space.dimension}: use the model that filled it`,
    );
  return { distance: found.distance, points: result.points_count ?? undefined };
}

function toConditions({ tenantField, filters }: QdrantOptions, params: SourceParams, tenantId: string) {
  const given = filters.flatMap((filter) => {
    const value = 'value' in filter ? filter.value : params[filter.param];
    return value === undefined ? [] : [{ key: filter.key, match: { value } }];
  });
  return tenantField === undefined ? given : [{ key: tenantField, match: { value: tenantId } }, ...given];
}

/** Near is 1. A distance has no upper bound, nor does a dot product. */
function toScore(distance: Distance, score: number): number {
  if (distance === 'Cosine') return score;
  if (distance === 'Dot') return 1 / (1 + Math.exp(-score));
  return 1 / (1 + Math.max(0, score));
}
