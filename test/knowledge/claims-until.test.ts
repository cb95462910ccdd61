import type { Candidate } from '@cleanslate/contracts';
import { findFactHistory, withTransaction } from '@cleanslate/store';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { addFact } from '../../services/knowledge-maintainer/src/handlers/add-fact.ts';
import { resolveDispute } from '../../services/knowledge-maintainer/src/handlers/resolve-dispute.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

// A claim that names its end alone and is decided on after that end.

const tenantId = 'acme';
const SAID = '2026-01-10T00:00:00.000Z';
const UNTIL = '2026-02-01T00:00:00.000Z';
const assertion = {
  subject: 'fee',
  predicate: 'value',
  unit: 'EUR',
  polarity: 'positive' as const,
  modality: 'is' as const,
};

let at: KnowledgeDatabase;
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
});
afterAll(() => at[Symbol.asyncDispose]());

async function dispute(knowledgeId: string, isKnown: boolean): Promise<number> {
  const data = { knowledgeId, statement: 'The fee is EUR 5.', assertion: { ...assertion, value: '5' } };
  await addFact(at.database, { tenantId, requestId: `add-${knowledgeId}`, data });
  const challenger: Candidate = {
    knowledgeId,
    statement: 'The fee is EUR 9.',
    assertion: { ...assertion, value: '9' },
    validUntil: UNTIL,
    knowledgeType: 'rule',
    sourceType: 'internal_document',
    sourceRef: 'minutes',
    confidence: 1,
    importance: 1,
    derivedFrom: [],
    tags: [],
  };
  if (isKnown)
    await at.admin.query(
      `INSERT INTO knowledge.candidates (tenant_id, candidate_id, task_id, step_id, attempt, claim_id, message_id, body, said_at, state, outcome)
       VALUES ($1, $2, 't', 's', 1, 'c', 'm', $3, $4, 'settled', 'disputed')`,
      [tenantId, knowledgeId, JSON.stringify(challenger), SAID],
    );
  const { rows } = await at.admin.query<{ id: number }>(
    `INSERT INTO knowledge.disputes (tenant_id, knowledge_id, incumbent_version, candidate_id, challenger, challenger_signature, reason, source_message_id, revisions)
     VALUES ($1, $2, 1, $2, $3, 'signature', 'says otherwise', 'm', int8range(1, NULL)) RETURNING dispute_id AS id`,
    [tenantId, knowledgeId, JSON.stringify(challenger)],
  );
  return rows[0]?.id ?? 0;
}

async function believed(knowledgeId: string) {
  const scope = { role: 'cleanslate_gateway', tenantId, readOnly: true } as const;
  const history = await withTransaction(at.database, scope, (tx) =>
    findFactHistory(tx, tenantId, knowledgeId, Number.MAX_SAFE_INTEGER),
  );
  return history
    .filter(({ revisionUntil }) => revisionUntil === null)
    .map(({ assertion: said, validFrom, validUntil }) => [said?.value, validFrom, validUntil]);
}

test('it wins the time from when it was said to its end, and no more', async () => {
  const disputeId = await dispute('known', true);
  await resolveDispute(at.database, { tenantId, requestId: 'keep-known', data: { disputeId, keep: 'challenger' } });
  expect(await believed('known')).toEqual(
    expect.arrayContaining([
      ['5', null, SAID],
      ['9', SAID, UNTIL],
      ['5', UNTIL, null],
    ]),
  );
});

test('where nobody knows any more when it was said, it wins nothing, and whoever decides hears so', async () => {
  const disputeId = await dispute('forgotten', false);
  const keep = { tenantId, requestId: 'keep-forgotten', data: { disputeId, keep: 'challenger' as const } };
  await expect(resolveDispute(at.database, keep)).rejects.toMatchObject({ code: 'FACT_CONFLICT' });
  expect(await believed('forgotten')).toEqual([['5', null, null]]);
});
