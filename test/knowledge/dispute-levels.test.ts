import type { Candidate } from '@cleanslate/contracts';
import { findFactHistory, withTransaction } from '@cleanslate/store';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { addFact } from '../../services/knowledge-maintainer/src/handlers/add-fact.ts';
import { resolveDispute } from '../../services/knowledge-maintainer/src/handlers/resolve-dispute.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

const tenantId = 'acme';
let at: KnowledgeDatabase;
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
});
afterAll(() => at[Symbol.asyncDispose]());

const said = (knowledgeId: string, value: string) => ({
  knowledgeId,
  statement: `The bonus is EUR ${value}.`,
  assertion: {
    subject: knowledgeId,
    predicate: 'value',
    value,
    unit: 'EUR',
    polarity: 'positive' as const,
    modality: 'is' as const,
  },
});

test.each([
  ['none', {}],
  ['a lower one', { accessLevel: 'public' as const }],
])('a claim that an older release kept with %s wins at the level of the fact that it disputes', async (name, level) => {
  const knowledgeId = `bonus-${name.replaceAll(' ', '-')}`;
  const data = { ...said(knowledgeId, '5'), accessLevel: 'restricted' as const };
  await addFact(at.database, { tenantId, requestId: `add-${name}`, data });
  const challenger: Candidate = {
    ...said(knowledgeId, '9'),
    knowledgeType: 'rule',
    sourceType: 'internal_document',
    sourceRef: 'minutes',
    confidence: 1,
    importance: 1,
    derivedFrom: [],
    tags: [],
    ...level,
  };
  const { rows } = await at.admin.query<{ id: number }>(
    `INSERT INTO knowledge.disputes (tenant_id, knowledge_id, incumbent_version, candidate_id, challenger, challenger_signature, reason, source_message_id, revisions)
     VALUES ($1, $2, 1, 'c-1', $3, 'signature', 'says otherwise', 'm', int8range(1, NULL)) RETURNING dispute_id AS id`,
    [tenantId, knowledgeId, JSON.stringify(challenger)],
  );
  const keep = { disputeId: rows[0]?.id ?? 0, keep: 'challenger' as const };
  await resolveDispute(at.database, { tenantId, requestId: `keep-${name}`, data: keep });
  const history = await withTransaction(at.database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, (tx) =>
    findFactHistory(tx, tenantId, knowledgeId, Number.MAX_SAFE_INTEGER),
  );
  const won = history.filter(({ assertion }) => assertion?.value === '9');
  expect(won.map(({ accessLevel }) => accessLevel)).toEqual(['restricted']);
});
