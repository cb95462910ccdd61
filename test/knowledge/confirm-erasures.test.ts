import { openDatabase } from '@cleanslate/store';
import { startTcpProxy } from '@cleanslate/testing';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { ErasureConfirmer } from '../../services/knowledge-maintainer/src/erasure-confirmer.ts';
import { confirmErasures } from '../../services/knowledge-maintainer/src/handlers/confirm-erasures.ts';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { redactFact } from '../../services/knowledge-maintainer/src/handlers/redact-fact.ts';
import { aFact } from '../fixtures/facts.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

const tenantId = 'acme';
let at: KnowledgeDatabase;
let requests = 0;
const requestId = () => `r-${requests++}`;
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
});
afterAll(() => at[Symbol.asyncDispose]());

/** Two that the scheduler is done with. */
let redactions: readonly number[];
beforeEach(async () => {
  const ids = ['first', 'second'].map((name) => `${name}-${requests}`);
  const facts = ids.map((knowledgeId) => aFact(knowledgeId, `What ${knowledgeId} earns.`));
  const set = { sourceRef: 'handbook', sourceType: 'internal_document' as const, facts };
  await importFacts(at.database, { tenantId, requestId: requestId(), data: set });
  const made: number[] = [];
  for (const knowledgeId of ids) {
    const data = { knowledgeId, reason: 'ticket 811', by: 'maria' };
    made.push((await redactFact(at.database, { tenantId, requestId: requestId(), data })).reply.redactionId ?? 0);
  }
  await at.admin.query(
    `INSERT INTO ledger.erasures (redaction_id, tenant_id, done_at)
     SELECT redaction_id, tenant_id, now() FROM knowledge.redactions ON CONFLICT DO NOTHING`,
  );
  redactions = made;
});

async function open(): Promise<readonly number[]> {
  const { rows } = await at.admin.query<{ id: number }>(
    'SELECT redaction_id AS id FROM knowledge.redactions WHERE confirmed_at IS NULL ORDER BY 1',
  );
  return rows.map(({ id }) => id);
}

/** Has the database do this when it confirms the first of them. */
async function atFirst(statement: string): Promise<AsyncDisposable> {
  await at.admin.query(`CREATE FUNCTION knowledge.at_first() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN IF NEW.redaction_id = ${redactions[0]} THEN ${statement}; END IF; RETURN NEW; END $$`);
  await at.admin.query(
    'CREATE TRIGGER at_first BEFORE UPDATE ON knowledge.redactions FOR EACH ROW EXECUTE FUNCTION knowledge.at_first()',
  );
  return {
    [Symbol.asyncDispose]: async () => void (await at.admin.query('DROP FUNCTION knowledge.at_first() CASCADE')),
  };
}

test('a service that is stopped ends with the one in hand: the others wait for whoever looks next', async () => {
  {
    await using _ = await atFirst(`RAISE EXCEPTION 'not this one'`);
    let stopped: Promise<void> | undefined;
    const onError = () => {
      stopped ??= confirmer.stop();
    };
    const confirmer = new ErasureConfirmer({ database: at.database, onError, everyMs: 10 });
    confirmer.start();
    await expect.poll(() => stopped !== undefined).toBe(true);
    await stopped;
    expect(await open()).toEqual(redactions);
  }
  await confirmErasures(at.database, unexpected);
  expect(await open()).toEqual([]);
});

test('an outage ends the round: the rest does not wait for the same database one after the other', async () => {
  const url = new URL(at.url);
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  let gone: PromiseLike<void> | undefined;
  await using database = openDatabase({ url: url.href, applicationName: 'knowledge-test' });
  {
    await using _ = await atFirst(`RAISE EXCEPTION 'not this one'`);
    const blamed: unknown[] = [];
    const round = confirmErasures(database, (error) => {
      blamed.push(error);
      gone ??= proxy[Symbol.asyncDispose]();
    });
    await expect(round).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(blamed).toEqual([aboutFirst()]);
    await gone;
  }
  expect(await open()).toEqual(redactions);
  await confirmErasures(at.database, unexpected);
  expect(await open()).toEqual([]);
});

test('a redaction whose session breaks, while the database answers, holds up no other', async () => {
  {
    await using _ = await atFirst('PERFORM pg_terminate_backend(pg_backend_pid())');
    const blamed: unknown[] = [];
    expect(await confirmErasures(at.database, (error) => blamed.push(error))).toBe(true);
    expect(blamed).toEqual([aboutFirst()]);
    expect(await open()).toEqual(redactions.slice(0, 1));
  }
  await confirmErasures(at.database, unexpected);
  expect(await open()).toEqual([]);
});

/** Ends the round and the test with it. */
const unexpected = (error: unknown) => {
  throw error;
};

const aboutFirst = () =>
  expect.objectContaining({ message: expect.stringContaining(`redaction ${redactions[0]} can't be confirmed`) });
