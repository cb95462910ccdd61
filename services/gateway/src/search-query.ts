import { AppError, type FactSearch, type RequestOf, type ValueOf } from '@cleanslate/contracts';
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
/** The query in one space; null where only words are searched. */
export type QueryVector = { readonly space: string; readonly values: Float32Array; readonly rankWeight: number } | null;

const EMBED_TIMEOUT_MS = 5_000;
const DEFAULT_LIMIT = 8;

/**
 * Embeds the query, in the space that facts are kept in now, before the connection for the answer is taken. While the embedding server is away, a question about now is answered by words alone, and the
 * answer says so; a pinned one is refused (`EMBEDDINGS_UNAVAILABLE`): it must give the same hits each time. So is one at a revision whose vectors don't come.
 */
export async function embedQuery(ledger: Ledger, request: Request, tenantId: string): Promise<QueryVector> {
  const { findEmbeddings, onSearch } = ledger;
  onSearch(tenantId, request.query);
  if (findEmbeddings === null) return null;
  const embeddings = await findEmbeddings();
  try {
    const [values] = await embeddings.embed([request.query], AbortSignal.timeout(EMBED_TIMEOUT_MS));
    if (values === undefined || values === null) return null;
    if (isPinned(request)) await awaitPinned(ledger, request, tenantId, embeddings.space.id);
    return { space: embeddings.space.id, values, rankWeight: embeddings.rankWeight };
  } catch (error) {
    if (isPinned(request)) throw error;
    return null;
  }
}

async function awaitPinned(ledger: Ledger, request: Request, tenantId: string, space: string): Promise<void> {
  const look = async (tx: Tx) => countPendingVectors(tx, space, (await resolvePin(tx, request)).revision);
  const pending = await awaitVectors(() => ledger.read(tenantId, look));
  if (pending > 0) throw notEmbeddedYet(pending);
}

/** The best facts at the pin. Throws `EMBEDDING_MISMATCH` where the knowledge base has moved to another space. */
export async function findBySearch(
  tx: Tx,
  request: Request,
  tenantId: string,
  vector: QueryVector,
): Promise<ValueOf<typeof FactSearch>> {
  const { query, prefix, knowledgeTypes, accessLevels, tags, limit = DEFAULT_LIMIT } = request;
  if (query.includes('\0') || !query.isWellFormed())
    throw new AppError('INVALID_INPUT', "query: holds a character that can't be compared: send well-formed UTF-8");
  const pin = await resolvePin(tx, request);
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

/** The vector, if its space is kept; null where nothing has been embedded yet. */
async function findStored(tx: Tx, vector: NonNullable<QueryVector>): Promise<QueryVector> {
  const spaces = await findSpaces(tx);
  if (spaces.some(({ space }) => space === vector.space)) return vector;
  checkSpace(spaces, vector.space);
  return null;
}
