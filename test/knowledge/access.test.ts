import { DATABASE_ROLES, findFactsAt, listFactsAt, migrate, openDatabase, withTransaction } from '@cleanslate/store';
import { ROLE_PASSWORD } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

let at: KnowledgeDatabase;
let tables: { schema: string; name: string; column: string }[] = [];
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
  for (const tenantId of ['acme', 'globex']) {
    const period = { value: '1', statement: `A secret of ${tenantId}.`, validFrom: null, validUntil: null };
    const fact = {
      knowledgeId: 'shared-id',
      subject: 's',
      predicate: 'p',
      unit: null,
      tags: [],
      periods: [period],
      polarity: 'positive' as const,
      modality: 'is' as const,
      knowledgeType: 'rule' as const,
    };
    const data = { sourceRef: tenantId, sourceType: 'human_confirmed' as const, facts: [fact] };
    await importFacts(at.database, { tenantId, requestId: 'r', data });
  }
  const { rows } = await at.admin.query<(typeof tables)[number]>(
    `SELECT n.nspname AS schema, c.relname AS name, (SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND attidentity = '' LIMIT 1) AS column
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('knowledge', 'ledger') AND c.relkind = 'r' ORDER BY 1, 2`,
  );
  tables = rows;
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

const REFUSED = '42501';
const PIN = { validAt: '2026-01-01T00:00:00.000Z', revision: 2 };

/** SQLSTATE of one statement as a role, undefined where it was allowed; nothing is kept. */
async function refusal(role: string, sql: string): Promise<string | undefined> {
  const client = await at.admin.connect();
  try {
    await client.query(`BEGIN; SET LOCAL ROLE ${role}; SET LOCAL cleanslate.tenant = 'acme'`);
    await client.query(sql);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

describe('who may write knowledge', () => {
  const writers: Readonly<Record<string, string>> = {
    knowledge: 'cleanslate_maintainer',
    ledger: 'cleanslate_scheduler',
  };

  it.each(DATABASE_ROLES)('%s is refused every write on every table that is not its own', async (role) => {
    const foreign = tables.filter(({ schema }) => writers[schema] !== role);
    expect(foreign.length).toBeGreaterThan(10);
    for (const { schema, name, column } of foreign) {
      for (const sql of [
        `INSERT INTO ${schema}.${name} DEFAULT VALUES`,
        `UPDATE ${schema}.${name} SET ${column} = ${column}`,
        `DELETE FROM ${schema}.${name}`,
        `TRUNCATE ${schema}.${name}`,
      ]) {
        expect([sql, await refusal(role, sql)]).toEqual([sql, REFUSED]);
      }
    }
  });

  it('the maintainer itself can neither rewrite nor delete history', async () => {
    for (const sql of [
      `UPDATE knowledge.fact_versions SET statement = 'other'`,
      'DELETE FROM knowledge.fact_versions',
      `UPDATE knowledge.revisions SET committed_at = now()`,
      'DELETE FROM knowledge.fact_log',
      `UPDATE knowledge.audit SET reason = 'other'`,
    ]) {
      expect([sql, await refusal('cleanslate_maintainer', sql)]).toEqual([sql, REFUSED]);
    }
    const reopened = `UPDATE knowledge.fact_versions SET revisions = int8range(lower(revisions), NULL)`;
    expect(await refusal('cleanslate_maintainer', reopened)).toBe('CS002');
    expect(
      await refusal('cleanslate_maintainer', 'UPDATE knowledge.fact_versions SET revisions = int8range(1, 9)'),
    ).toBe('CS002');
    // Not even the owner's superuser rewrites it by accident.
    expect(await refusal('postgres', `UPDATE knowledge.fact_versions SET statement = 'other'`)).toBe('CS002');
    expect(await refusal('postgres', 'DELETE FROM knowledge.fact_versions')).toBe('CS002');
  });

  it('two versions of one belief are refused by the database', async () => {
    const copy = `INSERT INTO knowledge.fact_versions (tenant_id, knowledge_id, version, statement, signature, content_hash, knowledge_type, layer, source_type,
        source_ref, lineage, lineage_trust, source_message_id, source_time, weight, confidence, importance, access_level, sensitivity, tags, valid, revisions)
      SELECT tenant_id, knowledge_id, 2, statement, signature, content_hash, knowledge_type, layer, source_type, source_ref, lineage, lineage_trust,
        source_message_id, source_time, weight, confidence, importance, access_level, sensitivity, tags, '[2020-01-01,2021-01-01)', '[5,)'
      FROM knowledge.fact_versions WHERE tenant_id = 'acme'`;
    expect(await refusal('cleanslate_maintainer', copy)).toBe('23P01');
  });
});

describe('who may read knowledge', () => {
  const readers = ['cleanslate_gateway', 'cleanslate_retriever', 'cleanslate_validator'] as const;

  it.each(readers)('%s sees the tenant of its transaction and nothing of another', async (role) => {
    const read = (scope: string, asked: string) =>
      withTransaction(at.database, { role, tenantId: scope }, (tx) => findFactsAt(tx, asked, PIN, ['shared-id']));
    expect((await read('acme', 'acme')).map((fact) => fact.statement)).toEqual(['A secret of acme.']);
    expect(await read('acme', 'globex')).toEqual([]);
    expect(await read('nobody', 'acme')).toEqual([]);
    const rows = await withTransaction(at.database, { role, tenantId: 'globex' }, (tx) =>
      tx.query('SELECT DISTINCT tenant_id FROM knowledge.fact_versions'),
    );
    expect(rows.rows).toEqual([{ tenant_id: 'globex' }]);
  });

  it.each(readers)('%s without a tenant gets an error, also on a session that had one before', async (role) => {
    await using single = openDatabase({ url: at.url, applicationName: 'test', poolSize: 1 });
    const list = () => withTransaction(single, { role }, (tx) => listFactsAt(tx, 'acme', PIN));
    await expect(list()).rejects.toMatchObject({ code: REFUSED });
    await withTransaction(single, { role, tenantId: 'acme' }, (tx) => listFactsAt(tx, 'acme', PIN));
    await expect(list()).rejects.toMatchObject({ code: REFUSED });
  });

  it('append-only tables, candidates and the outbox are no reader’s; the scheduler reads the clock, and what is to be erased', async () => {
    const hidden = ['fact_log', 'fact_usage', 'audit', 'candidates', 'settlements', 'outbox', 'requests'];
    // The gateway shows the blackboard, one tenant at a time.
    for (const role of readers)
      for (const name of hidden.filter((each) => role !== 'cleanslate_gateway' || each !== 'candidates'))
        expect(await refusal(role, `SELECT FROM knowledge.${name}`)).toBe(REFUSED);
    const knowledge = tables.filter(({ schema }) => schema === 'knowledge').map(({ name }) => name);
    for (const name of knowledge) {
      expect([name, await refusal('cleanslate_scheduler', `SELECT FROM knowledge.${name}`)]).toEqual([
        name,
        name === 'revisions' || name === 'redactions' ? undefined : REFUSED,
      ]);
    }
  });

  it('each service logs in with its own role and stays inside it', async () => {
    await migrate({ adminUrl: at.url, passwords: { cleanslate_retriever: ROLE_PASSWORD } });
    const url = new URL(at.url);
    url.username = 'cleanslate_retriever';
    url.password = ROLE_PASSWORD;
    await using own = openDatabase({ url: url.href, applicationName: 'test', poolSize: 1 });
    const facts = await withTransaction(own, { role: 'cleanslate_retriever', tenantId: 'acme' }, (tx) =>
      listFactsAt(tx, 'acme', PIN),
    );
    expect(facts).toHaveLength(1);
    await expect(
      withTransaction(own, { role: 'cleanslate_maintainer' }, (tx) => tx.query('SELECT')),
    ).rejects.toMatchObject({ code: REFUSED });
  });
});
