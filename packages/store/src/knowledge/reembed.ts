import { type Database, withTransaction } from '../database.ts';
import { addSpace, dropRetiredVectors, switchSpace } from './embedding-spaces.ts';
import { buildVectorIndex, countEmbeddings, findUnembedded, insertEmbeddings } from './embeddings.ts';
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
  readonly dropped: number;
};

const MAINTAINER = { role: 'cleanslate_maintainer' } as const;
const INDEX_FROM = 20_000;
const DROP_BATCH = 5_000;

/**
 * Fills a space with vectors of every version while the old one is read and written, then makes it the active one. Services follow
 * where their settings reach its model; others stay in the space they are configured for. Can be repeated after a crash: what is embedded is kept.
 */
export async function reembed(
  database: Database,
  embeddings: Reembedder,
  options: { readonly dropRetired: boolean; readonly onProgress?: (done: number) => void },
): Promise<ReembedReport> {
  const { id, ...space } = embeddings.space;
  await withTransaction(database, MAINTAINER, (tx) => addSpace(tx, { space: id, ...space }));
  const counts = { embedded: 0, skipped: 0 };
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
  // What was written meanwhile; from now on the maintainer that follows does it.
  await catchUp();
  let dropped = 0;
  for (let gone = DROP_BATCH; options.dropRetired && gone === DROP_BATCH; dropped += gone)
    gone = await withTransaction(database, MAINTAINER, (tx) => dropRetiredVectors(tx, DROP_BATCH));
  return { space: id, ...counts, dropped };
}

/** Embeds the next versions; returns the last one looked at. */
async function embedNext(
  database: Database,
  embeddings: Reembedder,
  after: number,
  counts: { embedded: number; skipped: number },
): Promise<number> {
  const { id } = embeddings.space;
  const found = await withTransaction(database, { ...MAINTAINER, readOnly: true }, (tx) =>
    findUnembedded(tx, id, after, embeddings.batch),
  );
  const vectors = await embeddings.embed(found.map(({ statement }) => statement));
  const usable = found.flatMap(({ factSeq, tenantId }, at) => {
    const vector = vectors[at];
    return vector ? [{ factSeq, tenantId, vector }] : [];
  });
  await withTransaction(database, MAINTAINER, (tx) => insertEmbeddings(tx, id, usable));
  counts.embedded += usable.length;
  counts.skipped += found.length - usable.length;
  return found.at(-1)?.factSeq ?? after;
}
