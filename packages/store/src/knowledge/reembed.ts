import { type Database, withTransaction } from '../database.ts';
import { addSpace, dropRetiredVectors, switchSpace } from './embedding-spaces.ts';
import { buildVectorIndex, countEmbeddings, findUnembedded, insertEmbeddings, type Unembedded } from './embeddings.ts';
import { ANY_TEXT, isTextRefusal } from './refused-text.ts';
import { lockKnowledge } from './revisions.ts';

/** The part of an embedding provider that a migration needs. */
export type Reembedder = {
  readonly space: {
    readonly id: string;
    readonly model: string;
    readonly dimension: number;
    readonly normaliser: string;
  };
  readonly batch: number;
  embed(texts: readonly string[]): Promise<(Float32Array | null)[]>;
};
export type ReembedReport = {
  readonly space: string;
  readonly embedded: number;
  readonly skipped: number;
  /** Facts that the server refused alone: they are found by their words, and tried again when this is repeated. */
  readonly refused: readonly RefusedFact[];
  readonly dropped: number;
};

export type RefusedFact = {
  readonly tenantId: string;
  /** `id@version`. */
  readonly fact: string;
  readonly reason: string;
};
type Counts = { embedded: number; skipped: number; readonly refused: RefusedFact[] };

const MAINTAINER = { role: 'cleanslate_maintainer' } as const;
const INDEX_FROM = 20_000;
const DROP_BATCH = 5_000;

/**
 * Fills a space with vectors of every version while the old one is read and written, then makes it the active one.
 * Services follow if their settings reach its model; others stay in the space they are configured for. A statement that
 * the server refuses holds up no other. Throws while the server is away, or accepts no text at all. Can be repeated
 * after a crash: what is embedded is kept.
 */
export async function reembed(
  database: Database,
  embeddings: Reembedder,
  options: { readonly dropRetired: boolean; readonly onProgress?: (done: number) => void },
): Promise<ReembedReport> {
  const { id, ...space } = embeddings.space;
  await withTransaction(database, MAINTAINER, (tx) => addSpace(tx, { space: id, ...space }));
  const counts: Counts = { embedded: 0, skipped: 0, refused: [] };
  let after = 0;
  const catchUp = async () => {
    for (let last = -1; last !== after; ) {
      last = after;
      after = await embedNext(database, embeddings, after, counts);
      if (after !== last) options.onProgress?.(counts.embedded);
    }
  };
  await catchUp();
  const stored = await withTransaction(database, { ...MAINTAINER, readOnly: true }, (tx) => countEmbeddings(tx, id));
  if (stored >= INDEX_FROM) await buildVectorIndex(database, id);
  await withTransaction(database, MAINTAINER, async (tx) => {
    await lockKnowledge(tx);
    await switchSpace(tx, id);
  });
  // What was written meanwhile; from now on the maintainer does this.
  await catchUp();
  let dropped = 0;
  for (let gone = DROP_BATCH; options.dropRetired && gone === DROP_BATCH; dropped += gone)
    gone = await withTransaction(database, MAINTAINER, (tx) => dropRetiredVectors(tx, DROP_BATCH));
  return { space: id, ...counts, dropped };
}

/** Embeds the next versions; returns the last one looked at. */
async function embedNext(database: Database, embeddings: Reembedder, after: number, counts: Counts): Promise<number> {
  const { id } = embeddings.space;
  const found = await withTransaction(database, { ...MAINTAINER, readOnly: true }, (tx) =>
    findUnembedded(tx, id, after, embeddings.batch),
  );
  if (found.length === 0) return after;
  const refused: RefusedFact[] = [];
  const vectors = await embedFound(embeddings, found, refused);
  const usable = found.flatMap(({ factSeq, tenantId }, at) => {
    const vector = vectors[at];
    return vector ? [{ factSeq, tenantId, vector }] : [];
  });
  await withTransaction(database, MAINTAINER, (tx) => insertEmbeddings(tx, id, usable));
  counts.embedded += usable.length;
  counts.skipped += found.length - usable.length - refused.length;
  counts.refused.push(...refused);
  return found.at(-1)?.factSeq ?? after;
}

/** Their vectors, in order, without those that the server refuses, which are found by bisection. */
async function embedFound(
  embeddings: Reembedder,
  found: readonly Unembedded[],
  refused: RefusedFact[],
): Promise<(Float32Array | null)[]> {
  try {
    return await embeddings.embed(found.map(({ statement }) => statement));
  } catch (error) {
    if (!isTextRefusal(error)) throw error;
    await embeddings.embed([ANY_TEXT]);
    const [only, ...others] = found;
    if (only !== undefined && others.length === 0) {
      const { tenantId, knowledgeId, version } = only;
      refused.push({ tenantId, fact: `${knowledgeId}@${version}`, reason: error.message });
      return [null];
    }
    const middle = Math.ceil(found.length / 2);
    const first = await embedFound(embeddings, found.slice(0, middle), refused);
    return [...first, ...(await embedFound(embeddings, found.slice(middle), refused))];
  }
}
