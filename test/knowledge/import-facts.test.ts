import type { FactImport, SourceType } from '@cleanslate/contracts';
import {
  findFactAt,
  findFactHistory,
  findRevisionAt,
  getLastRevision,
  listFactsAt,
  withTransaction,
} from '@cleanslate/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { resolveDispute } from '../../services/knowledge-maintainer/src/handlers/resolve-dispute.ts';
import { retractFact } from '../../services/knowledge-maintainer/src/handlers/retract-fact.ts';
import { BACKENDS, type KnowledgeDatabase, openBackend } from './knowledge-database.ts';

let at: KnowledgeDatabase;

type Period = { value: string; from: string | null; until: string | null };
const day = (date: string | null) => (date === null ? null : `${date}T00:00:00.000Z`);

function fact(knowledgeId: string, ...periods: Period[]): FactImport {
  return {
    knowledgeId,
    subject: `contract.${knowledgeId}`,
    predicate: 'max_days',
    unit: 'days',
    polarity: 'positive',
    modality: 'must',
    knowledgeType: 'rule',
    tags: ['test'],
    periods: periods.map(({ value, from, until }) => ({
      value,
      statement: `Customers must pay within ${value} days.`,
      validFrom: day(from),
      validUntil: day(until),
    })),
  };
}

let requests = 0;
/** As of a revision that no clock reaches: the last. */
const LATEST = Number.MAX_SAFE_INTEGER;
async function importSet(
  tenantId: string,
  facts: FactImport[],
  requestId = `request-${requests++}`,
  sourceType: SourceType = 'human_confirmed',
) {
  const data = { sourceRef: 'policy:handbook', sourceType, facts };
  return (await importFacts(at.database, { tenantId, requestId, data })).reply;
}

async function valueAt(tenantId: string, knowledgeId: string, validAt: string, revision?: number) {
  return await withTransaction(at.database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, async (tx) => {
    const pin = { validAt: `${validAt}T00:00:00.000Z`, revision: revision ?? (await getLastRevision(tx)) };
    return (await findFactAt(tx, tenantId, pin, knowledgeId))?.assertion?.value;
  });
}

describe.each(BACKENDS)('fact import on %s', (backend) => {
  beforeAll(async () => {
    at = await openBackend(backend);
  });
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
  });

  it('a rule that changed is right before and after, under both clocks', async () => {
    const first = await importSet('acme', [fact('term', { value: '60', from: '2022-01-01', until: null })]);
    expect(first.outcomes).toEqual([{ knowledgeId: 'term', outcome: 'accepted', versions: [1] }]);
    const second = await importSet('acme', [fact('term', { value: '30', from: '2025-01-01', until: null })]);
    expect(second.revision).toBe(first.revision + 1);
    expect(second.outcomes).toEqual([{ knowledgeId: 'term', outcome: 'updated', versions: [3] }]);
    expect(await valueAt('acme', 'term', '2021-12-31')).toBeUndefined();
    expect(await valueAt('acme', 'term', '2024-12-31')).toBe('60');
    expect(await valueAt('acme', 'term', '2025-01-01')).toBe('30');
    // What was believed before the change: 60 days for ever.
    expect(await valueAt('acme', 'term', '2025-01-01', first.revision)).toBe('60');
  });

  it('a change and its rollback are three periods', async () => {
    const set = fact(
      'rate',
      { value: '12', from: '2022-01-01', until: '2024-07-01' },
      { value: '18', from: '2024-07-01', until: '2025-03-01' },
      { value: '12', from: '2025-03-01', until: null },
    );
    expect((await importSet('acme', [set])).outcomes[0]?.versions).toEqual([1, 2, 3]);
    expect(await valueAt('acme', 'rate', '2024-06-30')).toBe('12');
    expect(await valueAt('acme', 'rate', '2024-07-01')).toBe('18');
    expect(await valueAt('acme', 'rate', '2025-03-01')).toBe('12');
  });

  it('the same content and the same request change nothing', async () => {
    const set = [fact('same', { value: '5', from: null, until: null })];
    const first = await importSet('acme', set, 'once');
    const logged = await at.admin.query('SELECT count(*)::int AS n FROM knowledge.fact_log');
    expect(await importSet('acme', set, 'once')).toEqual(first);
    expect((await importSet('acme', set)).outcomes).toEqual([
      { knowledgeId: 'same', outcome: 'duplicate', versions: [1] },
    ]);
    expect((await at.admin.query('SELECT count(*)::int AS n FROM knowledge.fact_log')).rows).toEqual(logged.rows);
    await expect(
      importSet('acme', [fact('same', { value: '6', from: null, until: null })], 'once'),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('overlapping periods are refused with the field named, and nothing of the set is written', async () => {
    const good = fact('good', { value: '1', from: null, until: null });
    const bad = fact(
      'bad',
      { value: '1', from: '2024-01-01', until: null },
      { value: '2', from: '2024-06-01', until: null },
    );
    await expect(importSet('acme', [good, bad])).rejects.toMatchObject({
      code: 'FACT_OVERLAP',
      message: expect.stringContaining('facts.1.periods.1'),
    });
    expect(await valueAt('acme', 'good', '2024-01-01')).toBeUndefined();
    const halves = fact('half', { value: 'x\ud800', from: null, until: null });
    await expect(importSet('acme', [halves])).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('a lesser source does not displace what a person confirmed: the import says so and a dispute is opened', async () => {
    await importSet('lesser', [fact('limit', { value: '30', from: null, until: null })]);
    const set = [
      fact('limit', { value: '90', from: '2025-01-01', until: null }),
      fact('new', { value: '1', from: null, until: null }),
    ];
    const { outcomes } = await importSet('lesser', set, 'web', 'external_source');
    expect(outcomes).toEqual([
      { knowledgeId: 'limit', outcome: 'disputed', versions: [1] },
      { knowledgeId: 'new', outcome: 'accepted', versions: [1] },
    ]);
    expect(await valueAt('lesser', 'limit', '2026-01-01')).toBe('30');
    const { rows } = await at.admin.query('SELECT incumbent_version FROM knowledge.disputes WHERE tenant_id = $1', [
      'lesser',
    ]);
    expect(rows).toEqual([{ incumbent_version: 1 }]);
  });

  it('what it contradicts of several versions is a dispute with each: one is taken back alone, and the import that wins has won them all', async () => {
    const tenantId = 'several';
    const disputes = async () => {
      const { rows } = await at.admin.query<{ id: number; version: number; resolution: string | null }>(
        'SELECT dispute_id AS id, incumbent_version AS version, resolution FROM knowledge.disputes WHERE tenant_id = $1 ORDER BY dispute_id',
        [tenantId],
      );
      return rows;
    };
    const resolve = (disputeId: number, keep: 'neither' | 'challenger') => {
      const data = { disputeId, keep };
      return resolveDispute(at.database, { tenantId, requestId: `request-${requests++}`, data });
    };
    const periods = (...values: [string, string, string]) => [
      { value: values[0], from: '2024-01-01', until: '2025-01-01' },
      { value: values[1], from: '2025-01-01', until: '2026-01-01' },
      { value: values[2], from: '2026-01-01', until: null },
    ];
    await importSet(tenantId, [fact('limit', ...periods('1', '2', '3'))]);
    const { outcomes } = await importSet(
      tenantId,
      [fact('limit', ...periods('7', '8', '9'))],
      'web',
      'external_source',
    );
    expect(outcomes).toEqual([{ knowledgeId: 'limit', outcome: 'disputed', versions: [1, 2, 3] }]);
    const open = await disputes();
    expect(open.map(({ version }) => version)).toEqual([1, 2, 3]);
    await resolve(open[1]?.id ?? 0, 'neither');
    const said = async () =>
      Promise.all(['2024-06-01', '2025-06-01', '2026-06-01'].map((day) => valueAt(tenantId, 'limit', day)));
    expect(await said()).toEqual(['1', undefined, '3']);
    await resolve(open[2]?.id ?? 0, 'challenger');
    expect(await said()).toEqual(['7', '8', '9']);
    expect((await disputes()).map(({ resolution }) => resolution)).toEqual(['challenger', 'both_wrong', 'challenger']);
  });

  it('neither is right: what the incumbent said is taken back under its present versions; where nothing of it is left, that is said', async () => {
    const tenantId = 'neither';
    const resolve = async (knowledgeId: string) => {
      const { rows } = await at.admin.query<{ id: number }>(
        'SELECT dispute_id AS id FROM knowledge.disputes WHERE tenant_id = $1 AND knowledge_id = $2',
        [tenantId, knowledgeId],
      );
      const data = { disputeId: rows[0]?.id ?? 0, keep: 'neither' as const };
      return await resolveDispute(at.database, { tenantId, requestId: `request-${requests++}`, data });
    };
    const retract = (knowledgeId: string, range: { from?: string }) => {
      const data = { knowledgeId, reason: 'wrong', ...range };
      return retractFact(at.database, { tenantId, requestId: `request-${requests++}`, data });
    };
    await importSet(tenantId, [
      fact(
        'part',
        { value: '30', from: '2022-01-01', until: '2025-01-01' },
        { value: '60', from: '2025-01-01', until: '2026-01-01' },
        { value: '30', from: '2026-01-01', until: null },
      ),
      fact('gone', { value: '30', from: null, until: null }),
    ]);
    const challengers = ['part', 'gone'].map((id) =>
      fact(id, { value: '90', from: '2023-01-01', until: '2023-02-01' }),
    );
    await importSet(tenantId, challengers, undefined, 'external_source');
    await retract('part', { from: '2026-06-01T00:00:00.000Z' });
    // Version 1 becomes 5: the same words for a shorter time.
    await importSet(tenantId, [fact('part', { value: '70', from: '2024-01-01', until: '2025-01-01' })]);
    const { outbox } = await resolve('part');
    expect(await valueAt(tenantId, 'part', '2023-06-01')).toBeUndefined();
    // The same words about another time were not in dispute.
    expect(await valueAt(tenantId, 'part', '2026-03-01')).toBe('30');
    const { rows } = await at.admin.query<{ version: number }>(
      `SELECT version FROM knowledge.audit WHERE tenant_id = $1 AND knowledge_id = 'part' AND reason LIKE 'dispute %'`,
      [tenantId],
    );
    const events = outbox.map(({ body }) => JSON.parse(body).data);
    expect(events).toMatchObject([{ change: 'retracted', version: rows[0]?.version }]);
    expect(rows[0]?.version).toBeGreaterThan(3);

    await retract('gone', {});
    await expect(resolve('gone')).rejects.toMatchObject({ code: 'FACT_CONFLICT' });
    const open = await at.admin.query(`SELECT resolution FROM knowledge.disputes WHERE knowledge_id = 'gone'`);
    expect(open.rows).toEqual([{ resolution: null }]);
  });

  it('a time read from the clock finds its revision again', async () => {
    const { revision } = await importSet('acme', [fact('clock', { value: '1', from: null, until: null })]);
    const { rows } = await at.admin.query<{ committed_at: Date }>(
      'SELECT committed_at FROM knowledge.revisions WHERE revision = $1',
      [revision],
    );
    const time = rows[0]?.committed_at.toISOString() ?? '';
    const found = await withTransaction(at.database, { role: 'cleanslate_scheduler' }, async (tx) => ({
      committed: await findRevisionAt(tx, time),
      never: await findRevisionAt(tx, '2000-01-01T00:00:00.000Z'),
    }));
    expect(found).toEqual({ committed: revision, never: 0 });
  });

  it('pages through all facts at a pin, by id and by subject', async () => {
    await importSet(
      'paged',
      ['a1', 'a2', 'a3', 'b1'].map((id) => fact(id, { value: '1', from: null, until: null })),
    );
    const list = (options: Parameters<typeof listFactsAt>[3]) =>
      withTransaction(at.database, { role: 'cleanslate_retriever', tenantId: 'paged' }, async (tx) => {
        const pin = { validAt: '2025-01-01T00:00:00.000Z', revision: await getLastRevision(tx) };
        return (await listFactsAt(tx, 'paged', pin, options)).map((view) => view.knowledgeId);
      });
    expect(await list({ limit: 2 })).toEqual(['a1', 'a2']);
    expect(await list({ limit: 2, after: 'a2' })).toEqual(['a3', 'b1']);
    expect(await list({ idPrefix: 'a', after: 'a1' })).toEqual(['a2', 'a3']);
    expect(await list({ subjectPrefix: 'contract.b' })).toEqual(['b1']);
  });

  it('history shows every version with both clocks', async () => {
    const history = await withTransaction(at.database, { role: 'cleanslate_validator', tenantId: 'acme' }, (tx) =>
      findFactHistory(tx, 'acme', 'term', LATEST),
    );
    expect(history.map((view) => [view.version, view.assertion?.value, view.validFrom, view.validUntil])).toEqual([
      [1, '60', day('2022-01-01'), null],
      [2, '60', day('2022-01-01'), day('2025-01-01')],
      [3, '30', day('2025-01-01'), null],
    ]);
    expect(history.map((view) => view.revisionUntil)).toEqual([history[1]?.revisionFrom, null, null]);
  });

  it('agrees with a plain table under both clocks over random histories', async () => {
    const DAYS = 10;
    const dayOf = (index: number) => new Date(Date.UTC(2030, 0, 1 + index)).toISOString().slice(0, 10);
    const random = seeded(20_260_101);
    for (let history = 0; history < 6; history++) {
      const id = `random-${history}`;
      const table = new Map<number, string>();
      const known: [revision: number, table: Map<number, string>][] = [];
      for (let step = 0; step < 6; step++) {
        const from = Math.floor(random() * DAYS);
        const until = from + 1 + Math.floor(random() * 4);
        const value = String(1 + Math.floor(random() * 3));
        const { revision } = await importSet('oracle', [fact(id, { value, from: dayOf(from), until: dayOf(until) })]);
        for (let index = from; index < until; index++) table.set(index, value);
        known.push([revision, new Map(table)]);
      }
      for (const [revision, expected] of known)
        for (let index = 0; index < DAYS + 4; index++)
          expect([id, index, await valueAt('oracle', id, dayOf(index), revision)]).toEqual([
            id,
            index,
            expected.get(index),
          ]);
    }
  });
});

/** Mulberry32: the same numbers on every machine. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
