import type { FactImport } from '@cleanslate/contracts';
import { hashedEmbeddings } from '@cleanslate/llm';
import { openSources } from '@cleanslate/sources';
import { addSpace, withTransaction } from '@cleanslate/store';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { embedQuery } from '../../services/retriever/src/sources/embed-query.ts';
import { knowledgePort } from '../../services/retriever/src/sources/knowledge-port.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from '../knowledge/knowledge-database.ts';

let at: KnowledgeDatabase;
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
  const fact: FactImport = {
    ...{ knowledgeId: 'leave', subject: 'leave', predicate: 'length', unit: 'weeks', tags: [] },
    ...{ polarity: 'positive', modality: 'is', knowledgeType: 'rule' },
    periods: [{ value: '16', statement: 'Parental leave lasts 16 weeks.', validFrom: null, validUntil: null }],
  };
  const data = { sourceRef: 'handbook', sourceType: 'human_confirmed' as const, facts: [fact] };
  await importFacts(at.database, { tenantId: 'acme', requestId: 'r', data });
});
afterAll(() => at[Symbol.asyncDispose]());

/** The knowledge base as a source of a retriever that embeds questions in this many numbers, and what it logged. */
function open(dimension: number) {
  const warnings: unknown[] = [];
  const embeddings = hashedEmbeddings({ dimension });
  const embed = embedQuery(at.database, embeddings, { warn: (fields: unknown) => warnings.push(fields) });
  const knowledge = knowledgePort(at.database, embed, embeddings.space.id);
  const sources = openSources({ settings: [], file: '', env: {}, knowledge });
  const ask = () =>
    sources
      .get('acme', 'knowledge')
      .query({ query: 'parental leave' }, { signal: new AbortController().signal, limit: 5 });
  return { warnings, ask, check: () => sources.check() };
}

test('a knowledge base that is kept in another embedding space is searched by words, and says so: its check each time, the log once', async () => {
  const empty = open(64);
  expect(await empty.ask()).toHaveLength(1);
  expect([empty.warnings, await empty.check()]).toMatchObject([[], [{ says: 'the knowledge base, at revision 1' }]]);

  const { space } = hashedEmbeddings({ dimension: 384 });
  await withTransaction(at.database, { role: 'cleanslate_maintainer' }, (tx) =>
    addSpace(tx, { ...space, space: space.id }),
  );
  const same = open(384);
  expect(await same.ask()).toHaveLength(1);
  expect([same.warnings, await same.check()]).toMatchObject([[], [{ says: 'the knowledge base, at revision 1' }]]);

  const other = open(64);
  for (let asked = 0; asked < 3; asked++) expect(await other.ask()).toHaveLength(1);
  const [kept, configured] = [space.id, hashedEmbeddings({ dimension: 64 }).space.id];
  expect(other.warnings).toEqual([{ source: 'knowledge', kept, configured }]);
  const says = `the knowledge base, at revision 1; searched by words alone: it is kept in ${kept}, not in ${configured}`;
  for (let asked = 0; asked < 2; asked++) expect(await other.check()).toMatchObject([{ ok: true, says }]);
});
