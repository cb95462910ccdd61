import { AppError } from '@cleanslate/contracts';
import type { EmbeddingProvider } from '@cleanslate/llm';
import {
  ANY_TEXT,
  addSpace,
  buildVectorIndex,
  checkSpace,
  countEmbeddings,
  cutMissingTerms,
  type Database,
  findSpaces,
  findUnembedded,
  getLastVersion,
  insertEmbeddings,
  isTextRefusal,
  type StoredSpace,
  saveEmbeddedUntil,
  type Unembedded,
  withTransaction,
} from '@cleanslate/store';

export type EmbedderOptions = {
  readonly database: Database;
  readonly embeddings: EmbeddingProvider;
  /**
   * The provider of a space that the knowledge base was moved to (`slate fact reembed`) while this service runs;
   * undefined if this service's settings don't reach it. Left out: vectors of the old space go on until it is
   * restarted.
   */
  readonly follow?: (space: StoredSpace) => Promise<EmbeddingProvider | undefined>;
  readonly onError: (error: unknown) => void;
  /** How often versions without a vector are searched for without a hint. Milliseconds, default 2 s. */
  readonly sweepMs?: number;
  /** With this many vectors an index pays off: it is built once everything waiting is embedded. Default 20,000. */
  readonly indexFrom?: number;
};

const MAINTAINER = { role: 'cleanslate_maintainer' } as const;
const TERMS_BATCH = 500;
const INDEX_FROM = 20_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Gives every version its vector, soon after it is written: a fact is found by its words at once, by its vector a
 * moment later.
 */
export class Embedder {
  readonly #options: EmbedderOptions;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #failures = 0;
  /** Versions up to this one have a vector or can't have one. */
  #done = 0;
  /** Up to this one, one at a time: the server refused one of these versions together. */
  #singlyUntil = 0;
  #stored = 0;
  #indexed = false;
  #embeddings: EmbeddingProvider;
  /** A space that could not be followed, reported once. */
  #missed = '';

  constructor(options: EmbedderOptions) {
    this.#options = options;
    this.#embeddings = options.embeddings;
  }

  /**
   * Registers the space and cuts again the terms that an older release left. Throws `EMBEDDING_MISMATCH` if the
   * knowledge base is kept in another space: the service must not start.
   */
  async open(): Promise<void> {
    const { database } = this.#options;
    const { id, ...space } = this.#embeddings.space;
    await withTransaction(database, MAINTAINER, async (tx) => {
      checkSpace(await findSpaces(tx), id);
      await addSpace(tx, { space: id, ...space });
      this.#stored = await countEmbeddings(tx, id);
    });
    while ((await withTransaction(database, MAINTAINER, (tx) => cutMissingTerms(tx, TERMS_BATCH))) === TERMS_BATCH);
    this.poke();
  }

  /** There may be new versions. Returns at once. */
  poke(): void {
    if (this.#stopped.signal.aborted) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when nothing is being embedded. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      await this.#follow();
      while (this.#again && !this.#stopped.signal.aborted) {
        this.#again = false;
        while ((await this.#embedBatch()) && !this.#stopped.signal.aborted);
      }
      await this.#index();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      if (!this.#stopped.signal.aborted) this.#options.onError(error);
    }
    const pauseMs = Math.min(MAX_PAUSE_MS, (this.#options.sweepMs ?? 2_000) * 2 ** Math.min(this.#failures, 5));
    if (!this.#stopped.signal.aborted) this.#timer = setTimeout(() => this.poke(), pauseMs);
  }

  /** Moves to the space that the knowledge base is kept in now; looks again for whatever has no vector there yet. */
  async #follow(): Promise<void> {
    const { database, follow, onError } = this.#options;
    if (follow === undefined) return;
    const scope = { ...MAINTAINER, readOnly: true } as const;
    const active = (await withTransaction(database, scope, findSpaces)).find(({ state }) => state === 'active');
    if (active === undefined || active.space === this.#embeddings.space.id || active.space === this.#missed) return;
    const next = await follow(active);
    if (next?.space.id !== active.space) {
      this.#missed = active.space;
      return onError(
        new AppError(
          'EMBEDDING_MISMATCH',
          `the knowledge base was moved to "${active.space}", which these settings can't embed: restart with its EMBEDDING_MODEL, EMBEDDING_DIMENSION and EMBEDDING_URL; until then new facts are found by words alone`,
        ),
      );
    }
    this.#embeddings = next;
    this.#done = 0;
    this.#singlyUntil = 0;
    this.#indexed = false;
    this.#stored = await withTransaction(database, scope, (tx) => countEmbeddings(tx, active.space));
  }

  /** True while there is more. */
  async #embedBatch(): Promise<boolean> {
    const { database } = this.#options;
    const embeddings = this.#embeddings;
    const { id } = embeddings.space;
    const limit = this.#done < this.#singlyUntil ? 1 : embeddings.batch;
    const { found, until } = await withTransaction(database, { ...MAINTAINER, readOnly: true }, async (tx) => {
      // Before the versions: writers wait for each other, so none with a lower number comes after it.
      const last = await getLastVersion(tx);
      const found = await findUnembedded(tx, id, this.#done, limit);
      const reached = found.at(-1)?.factSeq ?? 0;
      return { found, until: found.length < limit ? Math.max(last, reached) : reached };
    });
    if (until <= this.#done) return false;
    const vectors = await this.#embed(found);
    if (vectors === undefined) {
      this.#singlyUntil = until;
      return true;
    }
    const usable = found.flatMap(({ factSeq, tenantId }, at) => {
      const vector = vectors[at];
      return vector ? [{ factSeq, tenantId, vector }] : [];
    });
    await withTransaction(database, MAINTAINER, async (tx) => {
      await insertEmbeddings(tx, id, usable);
      await saveEmbeddedUntil(tx, id, until);
    });
    this.#stored += usable.length;
    this.#done = until;
    return found.length === limit;
  }

  /**
   * The vectors of these versions; undefined if the server refuses one of several for its text. The one that it refuses
   * alone gets none: otherwise each later fact would wait for ever, and with it every search at a pin. Throws while the
   * server is away, or accepts no text at all.
   */
  async #embed(found: readonly Unembedded[]): Promise<readonly (Float32Array | null)[] | undefined> {
    if (found.length === 0) return [];
    const { signal } = this.#stopped;
    const statements = found.map(({ statement }) => statement);
    try {
      return await this.#embeddings.embed(statements, signal);
    } catch (error) {
      if (!isTextRefusal(error)) throw error;
      await this.#embeddings.embed([ANY_TEXT], signal);
      const [only, ...others] = found;
      if (only === undefined || others.length > 0) return undefined;
      const { knowledgeId, version, tenantId } = only;
      this.#options.onError(
        new AppError(
          error.code,
          `fact "${knowledgeId}@${version}" of tenant "${tenantId}" goes without a vector and is found by its words alone: ${error.message}`,
          { disposition: 'terminal' },
        ),
      );
      return [null];
    }
  }

  async #index(): Promise<void> {
    const { database, indexFrom = INDEX_FROM } = this.#options;
    if (this.#indexed || this.#stored < indexFrom || this.#stopped.signal.aborted) return;
    await buildVectorIndex(database, this.#embeddings.space.id);
    this.#indexed = true;
  }
}
