import type { FactImport, SourceType } from '@cleanslate/contracts';
import { type EmbeddingProvider, hashedEmbeddings } from '@cleanslate/llm';
import {
  addSpace,
  awaitVectors,
  countPendingVectors,
  findSpaces,
  getLastRevision,
  openDatabase,
  reembed,
  searchFacts,
  withTransaction,
} from '@cleanslate/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../services/gateway/src/ledger.ts';
import { embedQuery, findBySearch } from '../../services/gateway/src/search-query.ts';
import { Embedder } from '../../services/knowledge-maintainer/src/embedder.ts';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { retractFact } from '../../services/knowledge-maintainer/src/handlers/retract-fact.ts';
import { aFact } from '../fixtures/facts.ts';
import { BACKENDS, type KnowledgeDatabase, openBackend } from './knowledge-database.ts';

let at: KnowledgeDatabase;
const tenantId = 'acme';
const embeddings = hashedEmbeddings();
let requests = 0;

type Said = { readonly from?: string; readonly until?: string; readonly tags?: string[] };
function fact(knowledgeId: string, statement: string, said: Said = {}): FactImport {
  const day = (date: string | undefined) => (date === undefined ? null : `${date}T00:00:00.000Z`);
  const value = statement.slice(0, 100);
  return {
    ...aFact(knowledgeId, statement),
    tags: said.tags ?? [],
    periods: [{ value, statement, validFrom: day(said.from), validUntil: day(said.until) }],
  };
}

async function state(facts: FactImport[], sourceType: SourceType = 'internal_document') {
  const data = { sourceRef: 'handbook', sourceType, facts };
  const { reply } = await importFacts(at.database, { tenantId, requestId: `r-${requests++}`, data });
  await embedAll();
  return reply.revision;
}

async function embedAll(provider: EmbeddingProvider = embeddings): Promise<void> {
  await using embedder = new DisposableEmbedder(provider);
  await embedder.open();
}
class DisposableEmbedder extends Embedder {
  constructor(provider: EmbeddingProvider) {
    super({
      database: at.database,
      embeddings: provider,
      onError: (error) => {
        throw error;
      },
    });
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.settled();
    await this.stop();
  }
}

type Asked = Partial<Parameters<typeof searchFacts>[2]> & { readonly at?: string; readonly revision?: number };
async function search(query: string, { at: day = '2026-06-01', revision, ...more }: Asked = {}, provider = embeddings) {
  const [values] = await provider.embed([query]);
  const vector = values ? { space: provider.space.id, values, rankWeight: provider.rankWeight } : null;
  return await withTransaction(at.database, { role: 'cleanslate_retriever', tenantId, readOnly: true }, async (tx) => {
    const pin = { validAt: `${day}T00:00:00.000Z`, revision: revision ?? (await getLastRevision(tx)) };
    const found = await searchFacts(tx, tenantId, { query, pin, pinned: true, vector, filter: {}, limit: 5, ...more });
    return found.map(({ fact: view }) => `${view.knowledgeId}@${view.version}`);
  });
}

describe.each(BACKENDS)('search on %s', (backend) => {
  beforeAll(async () => {
    at = await openBackend(backend);
    await state([
      fact('pay', 'Invoices of suppliers are payable within 30 days.', { tags: ['payment'] }),
      fact('deliver', 'Goods are delivered within 14 days after the order.'),
      fact('warranty', 'The warranty lasts 24 months.'),
      fact('paytime-zh', '供应商发票应当在收到后三十日内付款。', { tags: ['payment'] }),
      fact('penalty-zh', '逾期交货的违约金为每日千分之三。'),
    ]);
  });
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
  });

  it.each([
    ['words in other forms', 'when must a supplier pay an invoice', 'pay@1'],
    ['Chinese words', '违约金是多少', 'penalty-zh@1'],
    ['a Chinese question', '收到发票后多少天内付款', 'paytime-zh@1'],
    ['a spelling that no word has', 'warrantys', 'warranty@1'],
  ])('finds by %s', async (_name, query, first) => {
    expect((await search(query))[0]).toBe(first);
  });

  it('a filter takes no place from what passes it', async () => {
    expect(await search('days after the order', { filter: { tags: ['payment'] } })).toEqual(
      expect.arrayContaining(['pay@1']),
    );
    expect(await search('within days', { filter: { idPrefix: 'deliver' } })).toEqual(['deliver@1']);
    expect(await search('invoices', { filter: { knowledgeTypes: ['clause'] } })).toEqual([]);
  });

  it('C26: a version that was superseded or retracted is found where it held and was known, and nowhere else', async () => {
    await state([fact('cap', 'The liability cap is one million.', { from: '2026-01-01' })]);
    const changed = await state([fact('cap', 'The liability cap is two million.', { from: '2026-01-10' })]);
    const data = { knowledgeId: 'cap', from: '2026-01-20', reason: 'repealed' };
    await retractFact(at.database, { tenantId, requestId: `r-${requests++}`, data });
    const capAt = async (day: string, revision?: number) =>
      (await search('liability cap million', { at: day, ...(revision === undefined ? {} : { revision }) })).filter(
        (ref) => ref.startsWith('cap'),
      );
    // Version 2 is what stayed true of version 1, version 4 of version 3.
    expect(await capAt('2026-01-05')).toEqual(['cap@2']);
    expect(await capAt('2026-01-15')).toEqual(['cap@4']);
    expect(await capAt('2026-01-25')).toEqual([]);
    expect(await capAt('2026-01-25', changed)).toEqual(['cap@3']);
    expect(await capAt('2025-12-31')).toEqual([]);
  });

  it('a pinned question gets the same answer after later writes, retractions, changed weights and rebuilt indexes', async () => {
    const revision = await state([
      fact('dose', 'The daily dose is 5 mg.'),
      fact('doses', 'A dose is taken with water.'),
    ]);
    const before = await search('daily dose', { revision });
    expect(before[0]).toBe('dose@1');
    await state([
      ...Array.from({ length: 40 }, (_, index) =>
        fact(`dose-${index}`, `The daily dose of drug ${index} is ${index} mg daily.`),
      ),
      fact('dose', 'The daily dose is 9 mg.'),
    ]);
    await retractFact(at.database, {
      tenantId,
      requestId: `r-${requests++}`,
      data: { knowledgeId: 'doses', reason: 'x' },
    });
    await withTransaction(at.database, { role: 'cleanslate_maintainer' }, (tx) =>
      tx.query(
        `INSERT INTO knowledge.adjustments (tenant_id, knowledge_id, version, weight, importance, reason, source_message_id, revisions)
         VALUES ('acme', 'dose', 1, 0.01, 0.01, 'feedback', 'm', int8range($1, NULL))`,
        [revision + 2],
      ),
    );
    const { rows } = await at.admin.query('SELECT knowledge.build_vector_index($1) AS built', [embeddings.space.id]);
    expect(rows).toEqual([{ built: true }]);
    await at.admin.query('REINDEX TABLE knowledge.fact_lexemes');
    await at.admin.query('REINDEX TABLE knowledge.fact_embeddings');
    await at.admin.query(`UPDATE knowledge.fact_lexemes SET normaliser = 'older'`);
    await embedAll();
    expect(await search('daily dose', { revision })).toEqual(before);
  });

  it('hits that nearly repeat each other leave room for others; another number is something of its own', async () => {
    const rest = 'of the machine in hall seven is checked by the maintenance crew before each shift';
    await state([
      ...Array.from({ length: 6 }, (_, index) => fact(`same-${index}`, `The oil pressure ${rest}${'!'.repeat(index)}`)),
      fact('other-a', 'Oil pressure below two bar stops the machine.'),
      fact('other-b', 'The oil pressure of the machine is logged.'),
    ]);
    const found = await search('oil pressure of the machine');
    expect(found.filter((ref) => ref.startsWith('same'))).toHaveLength(1);
    expect(found).toEqual(expect.arrayContaining(['other-a@1', 'other-b@1']));
  });

  it('C19: a service whose model is another refuses to start; re-embedding moves everything while it is read, and spaces are never compared', async () => {
    const wider = hashedEmbeddings({ dimension: 512 });
    await expect(embedAll(wider)).rejects.toMatchObject({
      code: 'EMBEDDING_MISMATCH',
      message: expect.stringContaining('slate fact reembed'),
    });
    await using own = openDatabase({ url: at.url, applicationName: 'test', poolSize: 2 });
    const reading = search('违约金是多少');
    const report = await reembed(own, wider, { dropRetired: false });
    expect(report).toMatchObject({ space: wider.space.id, skipped: 0 });
    expect((await reading)[0]).toBe('penalty-zh@1');
    // The old reader goes on in its space, the new one in its own; each is the same question in another space.
    expect((await search('违约金是多少'))[0]).toBe('penalty-zh@1');
    expect((await search('违约金是多少', {}, wider))[0]).toBe('penalty-zh@1');
    await expect(embedAll()).rejects.toMatchObject({ code: 'EMBEDDING_MISMATCH' });
    const spaces = await withTransaction(at.database, { role: 'cleanslate_gateway' }, findSpaces);
    expect(spaces.map(({ space, state: now }) => [space, now])).toEqual([
      [wider.space.id, 'active'],
      [embeddings.space.id, 'retired'],
    ]);
    expect((await reembed(own, wider, { dropRetired: true })).dropped).toBeGreaterThan(10);
    // A space that is taken up again is as empty as a new one.
    const { id, ...space } = embeddings.space;
    await withTransaction(at.database, { role: 'cleanslate_maintainer' }, (tx) =>
      addSpace(tx, { space: id, ...space }),
    );
    const pending = await withTransaction(at.database, { role: 'cleanslate_retriever', tenantId }, async (tx) =>
      countPendingVectors(tx, id, await getLastRevision(tx)),
    );
    expect(pending).toBeGreaterThan(10);
    await reembed(own, embeddings, { dropRetired: true });
  });

  it('says how many facts of a pin have no vector yet, and that none is waited for that can have none', async () => {
    const revision = await state([fact('otter', 'Otters sleep afloat.')]);
    const data = {
      sourceRef: 'handbook',
      sourceType: 'internal_document' as const,
      facts: [fact('beaver', 'Beavers fell trees.'), fact('dots', ' … ')],
    };
    const { reply } = await importFacts(at.database, { tenantId, requestId: `r-${requests++}`, data });
    const pendingAt = (at_: number, of = tenantId) =>
      withTransaction(at.database, { role: 'cleanslate_retriever', tenantId: of, readOnly: true }, (tx) =>
        countPendingVectors(tx, embeddings.space.id, at_),
      );
    expect([await pendingAt(revision), await pendingAt(reply.revision)]).toEqual([0, 2]);
    expect(await pendingAt(reply.revision, 'other')).toBe(0);
    const ledger = openLedger(at.database, async () => embeddings);
    await at.admin.query(`INSERT INTO ledger.tenants (tenant_id) VALUES ('acme') ON CONFLICT DO NOTHING`);
    const ask = async (pin: { readonly revision?: number }) => {
      const request = { query: 'beavers', ...pin };
      const vector = await embedQuery(ledger, request, tenantId);
      return await ledger.read(tenantId, (tx) => findBySearch(tx, request, tenantId, vector));
    };
    await expect(ask({ revision: reply.revision })).rejects.toMatchObject({ code: 'EMBEDDINGS_UNAVAILABLE' });
    // Found by its words where nobody asks for the same again.
    expect((await ask({})).hits[0]?.fact.knowledgeId).toBe('beaver');
    expect((await ask({ revision })).space).toBe(embeddings.space.id);
    await embedAll();
    expect(await pendingAt(reply.revision)).toBe(0);
    expect((await ask({ revision: reply.revision })).hits[0]?.fact.knowledgeId).toBe('beaver');
  });

  it('a search for a day is about the revision that its first look finds, however fast others write', async () => {
    await at.admin.query(`INSERT INTO ledger.tenants (tenant_id) VALUES ('acme') ON CONFLICT DO NOTHING`);
    const write = async (id: string) => {
      const facts = [fact(id, `Herons stand on the leg ${id}.`)];
      const data = { sourceRef: 'handbook', sourceType: 'internal_document' as const, facts };
      return (await importFacts(at.database, { tenantId, requestId: `r-${requests++}`, data })).reply.revision;
    };
    const first = await write('heron-0');
    const ledger = openLedger(at.database, async () => embeddings);
    let looks = 0;
    // At each look there is another fact without a vector.
    const busy: typeof ledger = {
      ...ledger,
      read: async (tenant, work) => {
        const seen = await ledger.read(tenant, work);
        await embedAll();
        await write(`heron-${++looks}`);
        return seen;
      },
    };
    const request = { query: 'herons', validAt: '2026-06-01T00:00:00.000Z' };
    const vector = await embedQuery(busy, request, tenantId);
    const found = await ledger.read(tenantId, (tx) => findBySearch(tx, request, tenantId, vector));
    expect(found.revision).toBe(first);
    expect(found.hits.map((hit) => hit.fact.knowledgeId)).toContain('heron-0');
    await embedAll();
  });

  it('C19: a maintainer that runs while the knowledge base is moved embeds new facts in the new space, without a restart', async () => {
    const wider = hashedEmbeddings({ dimension: 256 });
    const errors: unknown[] = [];
    const embedder = new Embedder({
      database: at.database,
      embeddings,
      onError: (error: unknown) => errors.push(error),
      follow: async ({ dimension }) => (dimension === 256 ? wider : undefined),
    });
    await embedder.open();
    await embedder.settled();
    await using own = openDatabase({ url: at.url, applicationName: 'test', poolSize: 2 });
    await reembed(own, wider, { dropRetired: false });
    const facts = [fact('moved', 'Quokkas nap under the acacia.')];
    const data = { sourceRef: 'x', sourceType: 'internal_document' as const, facts };
    await importFacts(at.database, { tenantId, requestId: `r-${requests++}`, data });
    embedder.poke();
    await embedder.settled();
    const inSpace = async (space: string) => {
      const { rows } = await at.admin.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM knowledge.fact_embeddings e JOIN knowledge.fact_versions v USING (fact_seq) WHERE v.knowledge_id = 'moved' AND e.space = $1`,
        [space],
      );
      return rows[0]?.n;
    };
    expect([await inSpace(wider.space.id), await inSpace(embeddings.space.id)]).toEqual([1, 0]);
    expect((await search('quokkas', {}, wider))[0]).toBe('moved@1');
    // Moved to where its settings don't reach, it says so once and goes on.
    const other = hashedEmbeddings({ dimension: 300 });
    await reembed(own, other, { dropRetired: false });
    for (let looks = 0; looks < 3; looks++) {
      embedder.poke();
      await embedder.settled();
    }
    expect(errors).toEqual([expect.objectContaining({ code: 'EMBEDDING_MISMATCH' })]);
    await embedder.stop();
    await reembed(own, embeddings, { dropRetired: true });
  });

  it('C20: a vector that is zero, too short or no number is not stored, and its fact is found by words', async () => {
    const broken: EmbeddingProvider = { ...embeddings, embed: async (texts) => texts.map(() => null) };
    const data = {
      sourceRef: 'x',
      sourceType: 'internal_document' as const,
      facts: [fact('blind', 'Zebras graze at dawn.')],
    };
    await importFacts(at.database, { tenantId, requestId: `r-${requests++}`, data });
    await embedAll(broken);
    expect((await search('zebras'))[0]).toBe('blind@1');
    expect(await search('zebras', { query: 'nothing like it' })).not.toContain('blind@1');
    await embedAll();
  });

  // The embedded database is one session: it can't be held up by another one.
  const itOnServer = backend === 'TimescaleDB' ? it : () => undefined;
  itOnServer('the index may take longer to build than a query may; vectors stay if that fails', async () => {
    const replaceBuild = (body: string) =>
      at.admin.query(
        `CREATE OR REPLACE FUNCTION knowledge.build_vector_index(text) RETURNS boolean SECURITY DEFINER LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`,
      );
    const owner = 'ALTER FUNCTION knowledge.build_quickly(text) OWNER TO cleanslate_owner';
    await at.admin.query('ALTER FUNCTION knowledge.build_vector_index(text) RENAME TO build_quickly');
    await at.admin.query(`${owner}; GRANT EXECUTE ON FUNCTION knowledge.build_quickly(text) TO PUBLIC`);
    const provider = hashedEmbeddings({ dimension: 128 });
    await using impatient = openDatabase({
      url: at.url,
      applicationName: 'test',
      poolSize: 2,
      queryTimeoutMs: 5_000,
    });
    const counted = () =>
      at.admin.query<{ vectors: number }>(
        'SELECT count(*)::int AS vectors FROM knowledge.fact_embeddings WHERE space = $1',
        [provider.space.id],
      );
    await withTransaction(impatient, { role: 'cleanslate_maintainer' }, (tx) => {
      const { id: space, ...more } = provider.space;
      return addSpace(tx, { space, ...more });
    });
    await at.admin.query(`UPDATE knowledge.embedding_spaces SET state = 'retired' WHERE state = 'active'`);
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const options = { embeddings: provider, indexFrom: 1, sweepMs: 60_000, onError };
    const embedder = new Embedder({ database: impatient, ...options });
    await replaceBuild(`RAISE 'no room';`);
    await embedder.open();
    await embedder.settled();
    expect(errors).toMatchObject([{ message: 'no room' }]);
    expect((await counted()).rows[0]?.vectors).toBeGreaterThan(0);
    await replaceBuild('PERFORM pg_sleep(6); RETURN knowledge.build_quickly($1);');
    embedder.poke();
    await embedder.settled();
    await embedder.stop();
    expect(errors).toHaveLength(1);
    const { rows } = await at.admin.query(
      `SELECT FROM pg_indexes WHERE schemaname = 'knowledge' AND indexname = 'fact_embeddings_' || left(md5($1), 16)`,
      [provider.space.id],
    );
    expect(rows).toHaveLength(1);
  });
});

describe('waiting for the vectors of a pin', () => {
  it('ends when all are there', async () => {
    const pending = [2, 1, 0];
    expect(await awaitVectors(async () => pending.shift() ?? -1)).toBe(0);
    expect(pending).toEqual([]);
  });

  it('looks ever less often, for each look is a transaction, and then says what is pending still', async () => {
    let looks = 0;
    const look = async () => {
      looks++;
      return 7;
    };
    expect(await awaitVectors(look)).toBe(7);
    // 50, 100, 200 ms, then each 400 ms of two seconds; a timer may fire early by a moment.
    expect(looks).toBeLessThan(15);
  });

  it('ends with its caller', async () => {
    const stop = new AbortController();
    const look = async () => {
      stop.abort(new Error('cancelled'));
      return 1;
    };
    await expect(awaitVectors(look, stop.signal)).rejects.toThrow('cancelled');
  });
});
