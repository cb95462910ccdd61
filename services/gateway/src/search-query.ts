import { AppError, type FactSearch, type Pin, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import {
  awaitVectors,
  checkSpace,
  countPendingVectors,
  findSpaces,
  notEmbeddedYet,
  searchFacts,
  type Tx,
} from '@cleanslate/store';
import { resolvePin } from './fact-queries.ts';
import type { Ledger } from './ledger.ts';

type Request = RequestOf<typeof FactSearch>;
/**
 * The query in one space; null if only words are searched. `pin`: the query of a pinned
 * question, with all vectors in place.
 */
export type QueryVector = {
  readonly space: string;
  readonly values: Float32Array;
  readonly rankWeight: number;
  readonly pin?: Pin;
} | null;

const EMBED_TIMEOUT_MS = 5_000;
const DEFAULT_LIMIT = 8;

/**
 * Embeds the query, in the space that facts are kept in now, before the connection for the answer is taken. While the
 * embedding server is away, a question about now is answered by words alone, and the answer says so; a pinned one is
 * refused (`EMBEDDINGS_UNAVAILABLE`), since it must give the same hits each time. So is one at a revision whose vectors
 * don't arrive.
 */
export async function embedQuery(ledger: Ledger, request: Request, tenantId: string): Promise<QueryVector> {
  const { findEmbeddings, onSearch } = ledger;
  onSearch(tenantId, request.query);
  if (findEmbeddings === null) return null;
  const embeddings = await findEmbeddings();
  try {
    const [values] = await embeddings.embed([request.query], AbortSignal.timeout(EMBED_TIMEOUT_MS));
    if (values === undefined || values === null) return null;
    const vector = { space: embeddings.space.id, values, rankWeight: embeddings.rankWeight };
    return isPinned(request) ? { ...vector, pin: await awaitPin(ledger, request, tenantId, vector.space) } : vector;
  } catch (error) {
    if (isPinned(request)) throw error;
    return null;
  }
}

/**
 * Found once: a question that names no revision is about that of its first look, not about one that is ahead of its
 * vectors.
 */
async function awaitPin(ledger: Ledger, request: Request, tenantId: string, space: string): Promise<Pin> {
  const pin = await ledger.read(tenantId, (tx) => resolvePin(tx, request));
  const pending = await awaitVectors(() => ledger.read(tenantId, (tx) => countPendingVectors(tx, space, pin.revision)));
  if (pending > 0) throw notEmbeddedYet(pending);
  return pin;
}

/** The best facts at the pin. Throws `EMBEDDING_MISMATCH` if the knowledge base has moved to another space. */
export async function findBySearch(
  tx: Tx,
  request: Request,
  tenantId: string,
  vector: QueryVector,
): Promise<ValueOf<typeof FactSearch>> {
  const { query, prefix, knowledgeTypes, accessLevels, tags, limit = DEFAULT_LIMIT } = request;
  if (query.includes('\0') || !query.isWellFormed())
    throw new AppError('INVALID_INPUT', "query: holds a character that can't be compared: send well-formed UTF-8");
  const pin = vector?.pin ?? (await resolvePin(tx, request));
  const space = vector === null ? null : await findStored(tx, vector);
  const filter = {
    ...(prefix === undefined ? {} : { idPrefix: prefix }),
    ...(knowledgeTypes === undefined ? {} : { knowledgeTypes }),
    ...(accessLevels === undefined ? {} : { accessLevels }),
    ...(tags === undefined ? {} : { tags }),
  };
  const hits = await searchFacts(tx, tenantId, { query, pin, pinned: isPinned(request), vector: space, filter, limit });
  return { hits: [...hits], revision: pin.revision, validAt: pin.validAt, space: space?.space ?? null };
}

function isPinned({ validAt, revision, knownAt }: Request): boolean {
  return validAt !== undefined || revision !== undefined || knownAt !== undefined;
}

/** The vector, if its space is kept; null if nothing has been embedded yet. */
async function findStored(tx: Tx, vector: NonNullable<QueryVector>): Promise<QueryVector> {
  const spaces = await findSpaces(tx);
  if (spaces.some(({ space }) => space === vector.space)) return vector;
  checkSpace(spaces, vector.space);
  return null;
}
