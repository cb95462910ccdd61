import { z } from 'zod';
import { type StandIn, type StandInAnswer, type StandInRequest, startStandIn } from './stand-in.ts';

export type QdrantPoint = {
  readonly id: string | number;
  readonly vector: ArrayLike<number>;
  readonly payload: Readonly<Record<string, unknown>>;
};
export type QdrantOptions = {
  readonly collection: string;
  readonly dimension: number;
  readonly points: readonly QdrantPoint[];
  readonly apiKey?: string;
  /** A named vector; default: one without a name. */
  readonly vector?: string;
};

const Match = z.strictObject({
  key: z.string(),
  match: z.strictObject({ value: z.union([z.string(), z.int(), z.boolean()]) }),
});
const Query = z.strictObject({
  query: z.array(z.number()),
  limit: z.int().positive().default(10),
  with_payload: z.boolean().default(false),
  using: z.string().optional(),
  score_threshold: z.number().optional(),
  filter: z.strictObject({ must: z.array(Match).default([]) }).optional(),
});
const TIME = 0.000_123;

/**
 * What a source needs of Qdrant's REST interface: `GET /collections/{name}` and `POST /collections/{name}/points/query`
 * over cosine distance, with its errors in its form (https://api.qdrant.tech/api-reference/search/query-points). Keys
 * it does not know it refuses, which the real one does not: a misspelling would otherwise go unseen.
 */
export function startQdrantStandIn(options: QdrantOptions): Promise<StandIn> {
  return startStandIn((request) => answer(options, request));
}

function answer(options: QdrantOptions, { method, url, headers, body }: StandInRequest): StandInAnswer {
  if (options.apiKey !== undefined && headers['api-key'] !== options.apiKey)
    return {
      status: 401,
      json: { status: { error: 'Must provide an API key or an Authorization bearer token' }, time: TIME },
    };
  const [, collections, name = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
  if (collections !== 'collections') return { status: 404, json: {} };
  if (name !== options.collection) return fail(404, `Not found: Collection \`${name}\` doesn't exist!`);
  if (method === 'GET' && rest.length === 0) return ok(toInfo(options));
  if (method !== 'POST' || rest.join('/') !== 'points/query') return { status: 404, json: {} };
  const parsed = Query.safeParse(JSON.parse(body));
  if (!parsed.success) return fail(400, `Format error in JSON body: ${parsed.error.issues[0]?.message}`);
  const { query, using } = parsed.data;
  if (using !== options.vector) return fail(400, `Wrong input: Not existing vector name error: ${using ?? ''}`);
  if (query.length !== options.dimension)
    return fail(400, `Wrong input: Vector dimension error: expected dim: ${options.dimension}, got ${query.length}`);
  return ok({ points: search(options.points, parsed.data) });
}

function search(
  points: readonly QdrantPoint[],
  { query, limit, with_payload, score_threshold = -2, filter }: z.infer<typeof Query>,
) {
  const matches = ({ payload }: QdrantPoint) =>
    (filter?.must ?? []).every(({ key, match }) => payload[key] === match.value);
  return points
    .filter(matches)
    .map(({ id, vector, payload }) => ({
      id,
      version: 1,
      score: cosine(query, vector),
      ...(with_payload ? { payload } : {}),
    }))
    .filter(({ score }) => score >= score_threshold)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, left, right] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    dot += (a[at] ?? 0) * (b[at] ?? 0);
    left += (a[at] ?? 0) ** 2;
    right += (b[at] ?? 0) ** 2;
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right);
}

function toInfo({ dimension, points, vector }: QdrantOptions) {
  const params = { size: dimension, distance: 'Cosine' };
  return {
    status: 'green',
    optimizer_status: 'ok',
    indexed_vectors_count: points.length,
    points_count: points.length,
    segments_count: 1,
    config: {
      params: { vectors: vector === undefined ? params : { [vector]: params }, shard_number: 1, replication_factor: 1 },
    },
    payload_schema: {},
  };
}

function ok(result: unknown): StandInAnswer {
  return { json: { result, status: 'ok', time: TIME } };
}

function fail(status: number, error: string): StandInAnswer {
  return { status, json: { status: { error }, time: TIME } };
}
