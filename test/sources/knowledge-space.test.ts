import type { FactImport } from '@cleanslate/contracts';
import { type EmbeddingProvider, followSpace, hashedEmbeddings } from '@cleanslate/llm';
import { openSources } from '@cleanslate/sources';
import { addSpace, reembed, withTransaction } from '@cleanslate/store';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { embedQuery } from '../../services/retriever/src/sources/embed-query.ts';
import { knowledgePort } from '../../services/retriever/src/sources/knowledge-port.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from '../knowledge/knowledge-database.ts';

let at: KnowledgeDatabase;
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
  const fact: FactImport = {
    knowledgeId: 'leave',
    subject: 'leave',
    predicate: 'length',
    unit: 'weeks',
    tags: [],
    polarity: 'positive',
    modality: 'is',
    knowledgeType: 'rule',
    periods: [{ value: '16', statement: 'Parental leave lasts 16 weeks.', validFrom: null, validUntil: null }],
  };
  const data = { sourceRef: 'handbook', sourceType: 'human_confirmed' as const, facts: [fact] };
  await importFacts(at.database, { tenantId: 'acme', requestId: 'r', data });
});
afterAll(() => at[Symbol.asyncDispose]());

/** Of a model that these tests have no server of. */
const REMOTE = { id: 'small/384/cut-8000', model: 'small', dimension: 384, normaliser: 'cut-8000' };

/** The knowledge base as a source of a retriever that is configured so and knows no server, and what it logged. */
function open(embeddings: EmbeddingProvider) {
  const warnings: unknown[] = [];
  const settings = { EMBEDDING_MODEL: embeddings.space.model, EMBEDDING_DIMENSION: embeddings.space.dimension };
  const follow = followSpace(embeddings, settings, () => undefined);
  const embed = embedQuery(at.database, follow, { warn: (fields: unknown) => warnings.push(fields) });
  const knowledge = knowledgePort(at.database, embed, follow);
  const sources = openSources({ settings: [], file: '', env: {}, knowledge });
  const ask = () =>
    sources
      .get('acme', 'knowledge')
      .query({ query: 'parental leave' }, { signal: new AbortController().signal, limit: 5 });
  return { warnings, embed, ask, check: () => sources.check() };
}

test('a knowledge base that is kept in another embedding space is searched by words, and says so: its check each time, the log once', async () => {
  const empty = open(hashedEmbeddings({ dimension: 64 }));
  expect(await empty.ask()).toHaveLength(1);
  expect([empty.warnings, await empty.check()]).toMatchObject([[], [{ says: 'the knowledge base, at revision 1' }]]);

  await withTransaction(at.database, { role: 'cleanslate_maintainer' }, (tx) =>
    addSpace(tx, { ...REMOTE, space: REMOTE.id }),
  );
  const same = open({ ...hashedEmbeddings({ dimension: 384 }), space: REMOTE });
  expect(await same.ask()).toHaveLength(1);
  expect([same.warnings, await same.check()]).toMatchObject([[], [{ says: 'the knowledge base, at revision 1' }]]);

  const other = open(hashedEmbeddings({ dimension: 64 }));
  for (let asked = 0; asked < 3; asked++) expect(await other.ask()).toHaveLength(1);
  const [kept, configured] = [REMOTE.id, hashedEmbeddings({ dimension: 64 }).space.id];
  expect(other.warnings).toEqual([{ source: 'knowledge', kept, configured }]);
  const says = `the knowledge base, at revision 1; searched by words alone: it is kept in ${kept}, not in ${configured}`;
  for (let asked = 0; asked < 2; asked++) expect(await other.check()).toMatchObject([{ ok: true, says }]);
});

test('a retriever asks in the space that the knowledge base was moved to, without a restart', async () => {
  const running = open(hashedEmbeddings({ dimension: 64 }));
  for (const dimension of [128, 64]) {
    await reembed(at.database, hashedEmbeddings({ dimension }), { dropRetired: true });
    const vector = await running.embed('parental leave', new AbortController().signal);
    expect(vector).toMatchObject({ space: `hashed/${dimension}/words+grams-1` });
    expect(await running.ask()).toHaveLength(1);
    expect(await running.check()).toMatchObject([{ says: 'the knowledge base, at revision 1' }]);
  }
  expect(running.warnings).toEqual([]);
});
