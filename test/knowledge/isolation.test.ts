import { createHash } from 'node:crypto';
import type { FactImport } from '@cleanslate/contracts';
import { hashedEmbeddings } from '@cleanslate/llm';
import {
  addSpace,
  findFactAt,
  findFactHistory,
  findFactsAt,
  findFactVersions,
  findUnembedded,
  getLastRevision,
  insertEmbeddings,
  listDisputes,
  listFactsAt,
  searchFacts,
  type Tx,
  withTransaction,
} from '@cleanslate/store';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { retractFact } from '../../services/knowledge-maintainer/src/handlers/retract-fact.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

let at: KnowledgeDatabase;
/** By number of the version. */
const OWNERS = new Map<number, string>();
let walks = 0;
const TENANTS = ['acme', 'globex'] as const;
// At most 2,000: one import.
const FACTS = Number(process.env['ISOLATION_FACTS'] ?? '60');
const embeddings = hashedEmbeddings();
const { id: SPACE, ...space } = embeddings.space;
/** As `build_vector_index` names it. */
const INDEX = `fact_embeddings_${createHash('md5').update(SPACE).digest('hex').slice(0, 16)}`;
const READERS = ['cleanslate_gateway', 'cleanslate_retriever', 'cleanslate_validator'] as const;
/** What somebody might put where a word, an id or a tenant belongs. */
const HOSTILE = [
  `'; DROP TABLE knowledge.fact_versions; --`,
  `acme' OR '1'='1`,
  'acme/../globex',
  '%',
  '_',
  '\\',
  `"`,
  '$1',
  'globex',
  "a' | 'b",
  'a:*',
  '!a & b',
  "'acme.secret'",
  '租户',
  'globex\u202e',
  '{"tenantId":"globex"}',
  '*',
  '>',
  'NULL',
  '\u0001',
];

function fact(index: number, owner: string): FactImport {
  // Half of them say the same in both tenants, word by word, under the same id.
  const own = index % 2 === 0 ? 'everybody' : owner;
  return {
    knowledgeId: `fact-${index}`,
    subject: `${own} ${HOSTILE[index % HOSTILE.length]}`,
    predicate: 'secret',
    unit: null,
    polarity: 'positive',
    modality: 'is',
    knowledgeType: 'rule',
    tags: [HOSTILE[index % HOSTILE.length] ?? ''],
    periods: [
      {
        value: `${index}`,
        statement: `The secret number ${index} of ${own} 的秘密 ${HOSTILE[index % HOSTILE.length]}`,
        validFrom: null,
        validUntil: null,
      },
    ],
  };
}

beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
  for (const tenantId of TENANTS) {
    const facts = Array.from({ length: FACTS }, (_, index) => fact(index, tenantId));
    const data = { sourceRef: HOSTILE[0] ?? '', sourceType: 'internal_document' as const, facts };
    await importFacts(at.database, { tenantId, requestId: 'same-request', data });
  }
  await withTransaction(at.database, { role: 'cleanslate_maintainer' }, async (tx) => {
    await addSpace(tx, { space: SPACE, ...space });
    const found = await findUnembedded(tx, SPACE, 0, 2 * FACTS);
    const vectors = await embeddings.embed(found.map(({ statement }) => statement));
    await insertEmbeddings(
      tx,
      SPACE,
      found.flatMap((item, index) => (vectors[index] ? [{ ...item, vector: vectors[index] }] : [])),
    );
  });
  // As a tenant with many facts would have it.
  const { rows } = await at.admin.query('SELECT knowledge.build_vector_index($1) AS built', [SPACE]);
  expect(rows).toEqual([{ built: true }]);
  const versions = await at.admin.query<{ id: number; tenant: string }>(
    'SELECT fact_seq::int AS id, tenant_id AS tenant FROM knowledge.fact_versions',
  );
  for (const { id, tenant } of versions.rows) OWNERS.set(id, tenant);
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

let seed = Number(process.env['SEED'] ?? '11');
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};
const pick = <T>(items: readonly [T, ...T[]] | readonly T[]): T => items[random(items.length)] as T;

/**
 * One read of some kind, asking for `asked`'s facts with the transaction of another tenant or its own. Returns
 * the tenants of what came back.
 */
async function readSomething(tx: Tx, asked: string, revision: number): Promise<readonly string[]> {
  const pin = { validAt: '2026-06-01T00:00:00.000Z', revision: random(revision + 1) };
  const id = random(8) === 0 ? pick(HOSTILE) : `fact-${random(FACTS)}`;
  switch (random(8)) {
    case 0:
      return [(await findFactAt(tx, asked, pin, id))?.tenantId ?? []].flat();
    case 1:
      return (await findFactsAt(tx, asked, pin, [id, `fact-${random(FACTS)}`])).map((view) => view.tenantId);
    case 2:
      return (await listFactsAt(tx, asked, pin, { limit: 5, subjectPrefix: pick(['e', 'g', 'a', ...HOSTILE]) })).map(
        (view) => view.tenantId,
      );
    case 3:
      return (await findFactHistory(tx, asked, id, pin.revision)).map((view) => view.tenantId);
    case 4:
      return (await findFactVersions(tx, asked, [{ knowledgeId: id, version: 1 }], pin.revision)).map(
        (view) => view.tenantId,
      );
    case 5:
      await listDisputes(tx, asked, {});
      return [];
    case 6: {
      // As a tenant of more than 20,000 versions asks about now: `searchFacts` reads all vectors of a smaller one.
      const [values] = await embeddings.embed([`secret ${pick(HOSTILE)} ${random(FACTS)}`]);
      walks++;
      const { rows } = await tx.query<{ id: number }>(
        'SELECT fact_seq AS id FROM knowledge.search_vectors($1, $2, false, $3, $4, NULL, NULL, NULL, NULL, 20)',
        [SPACE, `[${values?.join(',')}]`, pin.validAt, revision],
      );
      return rows.map((row) => OWNERS.get(row.id) ?? 'nobody');
    }
    default: {
      const query = `secret ${pick(['number', 'acme', 'globex', '秘密', ...HOSTILE])} ${random(FACTS)}`;
      const [values] = await embeddings.embed([query]);
      const vector = values ? { space: SPACE, values, rankWeight: 1 } : null;
      const filter = random(3) === 0 ? { tags: [pick(HOSTILE)] } : random(3) === 0 ? { idPrefix: pick(HOSTILE) } : {};
      const search = { query, pin, pinned: random(2) === 0, vector, filter, limit: 5 };
      return (await searchFacts(tx, asked, search)).map(({ fact: view }) => view.tenantId);
    }
  }
}

// All of them: ISOLATION_QUERIES=100000.
const QUERIES = Number(process.env['ISOLATION_QUERIES'] ?? '1500');

describe('a second tenant', () => {
  it(`sees no row of the first in ${QUERIES} random reads of every kind, whoever's facts it asks for`, {
    timeout: 240_000 + QUERIES * 20,
  }, async () => {
    const revision = await withTransaction(at.database, { role: 'cleanslate_maintainer' }, getLastRevision);
    let own = 0;
    let foreign = 0;
    const perTransaction = 50;
    const work = async () => {
      for (let done = 0; done < QUERIES / 4; done += perTransaction) {
        const tenantId = pick(TENANTS);
        await withTransaction(at.database, { role: pick(READERS), tenantId, readOnly: true }, async (tx) => {
          for (let each = 0; each < perTransaction; each++) {
            const asked = random(2) === 0 ? tenantId : pick(TENANTS);
            for (const owner of await readSomething(tx, asked, revision)) owner === tenantId ? own++ : foreign++;
          }
        });
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    console.log(`${own} rows of one's own, ${foreign} foreign; ${walks} walks of the vector index`);
    expect(foreign).toBe(0);
    expect(walks).toBeGreaterThan(0);
    // What a session counted is told when it has been idle for a moment.
    const scans = `SELECT sum(idx_scan)::int AS scans FROM pg_stat_user_indexes WHERE indexrelname = $1`;
    await vi.waitFor(
      async () => {
        const { rows } = await at.admin.query<{ scans: number }>(scans, [INDEX]);
        expect(rows[0]?.scans).toBeGreaterThanOrEqual(walks);
      },
      { timeout: 60_000, interval: 500 },
    );
    // A reader that sees nothing would pass the line above.
    expect(own).toBeGreaterThan(QUERIES / 3);
  });

  it('gets its own words where both tenants hold the same text', async () => {
    for (const tenantId of TENANTS) {
      const hits = await withTransaction(
        at.database,
        { role: 'cleanslate_gateway', tenantId, readOnly: true },
        async (tx) =>
          searchFacts(tx, tenantId, {
            query: 'secret number 4 of everybody',
            pinned: true,
            vector: null,
            filter: {},
            limit: 3,
            pin: { validAt: '2026-06-01T00:00:00.000Z', revision: await getLastRevision(tx) },
          }),
      );
      expect(hits[0]?.fact).toMatchObject({ tenantId, knowledgeId: 'fact-4' });
    }
  });

  it('retracts its own fact alone, and its request ids are its own', async () => {
    const data = { knowledgeId: 'fact-6', reason: HOSTILE[0] ?? '' };
    await retractFact(at.database, { tenantId: 'globex', requestId: 'retract', data });
    const left = async (tenantId: string) =>
      await withTransaction(at.database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, async (tx) =>
        findFactAt(
          tx,
          tenantId,
          { validAt: '2026-06-01T00:00:00.000Z', revision: await getLastRevision(tx) },
          'fact-6',
        ),
      );
    expect(await left('globex')).toBeUndefined();
    expect(await left('acme')).toMatchObject({ tenantId: 'acme' });
  });
});

describe('search', () => {
  async function refusal(role: string, sql: string, tenant: string | null = 'acme'): Promise<string | undefined> {
    const client = await at.admin.connect();
    try {
      await client.query(`BEGIN; SET LOCAL ROLE ${role}`);
      if (tenant !== null) await client.query(`SET LOCAL cleanslate.tenant = '${tenant}'`);
      await client.query(sql);
      return undefined;
    } catch (error) {
      return (error as { code?: string }).code;
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }
  const text = `SELECT * FROM knowledge.search_text('{secret}', now(), 9, NULL, NULL, NULL, NULL, 10)`;
  const vector = `SELECT * FROM knowledge.search_vectors('${SPACE}', array_fill(0.1::real, '{384}')::vector::text, true, now(), 9, NULL, NULL, NULL, NULL, 10)`;

  it('is the readers’ alone; terms and vectors are read by nobody directly', async () => {
    for (const role of READERS) {
      expect([await refusal(role, text), await refusal(role, vector)]).toEqual([undefined, undefined]);
      for (const table of ['fact_lexemes', 'fact_embeddings'])
        expect([table, await refusal(role, `SELECT FROM knowledge.${table}`)]).toEqual([table, '42501']);
    }
    expect([await refusal('cleanslate_scheduler', text), await refusal('cleanslate_scheduler', vector)]).toEqual([
      '42501',
      '42501',
    ]);
  });

  it('without a tenant is an error, and a query of another space or length is refused', async () => {
    expect(await refusal('cleanslate_gateway', text, null)).toBe('42501');
    expect(await refusal('cleanslate_gateway', vector, null)).toBe('42501');
    expect(await refusal('cleanslate_gateway', vector.replace(SPACE, 'other/384/1'))).toBe('CS003');
    expect(await refusal('cleanslate_gateway', vector.replace('{384}', '{383}'))).toBe('CS003');
  });

  it('runs as a role that can’t log in, can’t write and owns nothing but its functions', async () => {
    const { rows } = await at.admin.query<{ login: boolean; super: boolean; bypass: boolean }>(
      `SELECT rolcanlogin AS login, rolsuper AS super, rolbypassrls AS bypass FROM pg_roles WHERE rolname = 'cleanslate_search'`,
    );
    expect(rows).toEqual([{ login: false, super: false, bypass: false }]);
    for (const table of ['fact_versions', 'fact_lexemes', 'fact_embeddings', 'corpus_sizes'])
      expect(await refusal('cleanslate_search', `DELETE FROM knowledge.${table}`)).toBe('42501');
  });
});
