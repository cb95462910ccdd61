import type { FactAdd, RequestOf } from '@cleanslate/contracts';
import { DEFAULT_SCREEN } from '@cleanslate/domain';
import { findFactHistory, withTransaction } from '@cleanslate/store';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { addFact } from '../../services/knowledge-maintainer/src/handlers/add-fact.ts';
import { settleBatch } from '../../services/knowledge-maintainer/src/handlers/settle-batch.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

let at: KnowledgeDatabase;
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

const tenantId = 'acme';
/** As of a revision that no clock reaches: the last. */
const LATEST = Number.MAX_SAFE_INTEGER;
let requests = 0;
type Said = RequestOf<typeof FactAdd>;
const add = (data: Said, requestId = `add-${requests++}`) => addFact(at.database, { tenantId, requestId, data });

function term(value: string, more: Partial<Said> = {}): Said {
  return {
    statement: `Invoices must be paid within ${value} days.`,
    assertion: {
      subject: 'invoice',
      predicate: 'payment term',
      value,
      unit: 'days',
      polarity: 'positive',
      modality: 'must',
    },
    ...more,
  };
}

async function history(knowledgeId: string) {
  const rows = await withTransaction(at.database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, (tx) =>
    findFactHistory(tx, tenantId, knowledgeId, LATEST),
  );
  return rows
    .filter(({ revisionUntil }) => revisionUntil === null)
    .map(({ assertion, validFrom, validUntil }) => [assertion?.value, validFrom, validUntil]);
}

test('a statement finds its fact by subject and predicate: another value is its next version, the same one a sighting', async () => {
  const first = await add(term('30'), 'add-first');
  expect(first.reply).toMatchObject({ outcome: 'accepted', version: 1 });
  const { knowledgeId } = first.reply;
  // Asked again with the same id: the same answer, and nothing is written.
  expect((await add(term('30'), 'add-first')).reply).toEqual(first.reply);
  expect((await add(term('30'))).reply).toMatchObject({ knowledgeId, outcome: 'duplicate', version: 1 });
  const july = '2040-07-01T00:00:00.000Z';
  const later = await add(term('14', { validFrom: '2040-07-01' }));
  expect(later.reply).toMatchObject({ knowledgeId, outcome: 'updated' });
  expect(await history(knowledgeId)).toEqual([
    ['30', null, july],
    ['14', july, null],
  ]);
  const { rows } = await at.admin.query(
    'SELECT count(*)::int AS sightings FROM knowledge.sightings WHERE knowledge_id = $1',
    [knowledgeId],
  );
  expect(rows).toEqual([{ sightings: 1 }]);
});

test('what a person says outranks what agents read, and stays when they read it again', async () => {
  const claim = { stepId: 's', attempt: 1, claimId: 'c' };
  const propose = async (taskId: string, value: string) => {
    const { statement, assertion } = term(value, {});
    const body = {
      statement: statement.replace('Invoices', 'Bills'),
      knowledgeType: 'rule' as const,
      tags: [],
      derivedFrom: [],
      assertion: assertion ? { ...assertion, subject: 'bill' } : null,
      confidence: 1,
      importance: 1,
      sourceType: 'internal_document' as const,
      sourceRef: `doc:${taskId}`,
    };
    const ids = { candidateId: taskId, messageId: taskId, epoch: 1, saidAt: new Date().toISOString() };
    const settlement = { tenantId, taskId, verdict: 'passed' as const, validatorScore: 1, messageId: `s-${taskId}` };
    const batch = {
      candidates: [{ tenantId, taskId, ...claim, ...ids, body }],
      settlements: [{ ...settlement, claims: [{ ...claim, candidates: [taskId] }] }],
    };
    return (await settleBatch(at.database, batch, DEFAULT_SCREEN)).outcomes;
  };
  expect(await propose('t-1', '60')).toEqual(['accepted']);
  const said = term('45');
  const bill = said.assertion ? { ...said.assertion, subject: 'bill' } : undefined;
  const { reply } = await add({ statement: 'Bills must be paid within 45 days.', ...(bill && { assertion: bill }) });
  expect(reply).toMatchObject({ outcome: 'updated', reason: 'a person said so' });
  expect(await propose('t-2', '60')).toEqual(['disputed']);
});

test('a statement without an assertion is a fact of its own, by its words', async () => {
  const said = await add({ statement: 'The supplier portal is being replaced.' });
  expect(said.reply).toMatchObject({ outcome: 'accepted', version: 1 });
  const again = await add({ statement: 'The supplier  portal is being replaced!' });
  expect(again.reply).toMatchObject({ knowledgeId: said.reply.knowledgeId, outcome: 'duplicate' });
  const not = await add({ statement: 'The supplier portal is not being replaced.' });
  expect(not.reply.knowledgeId).not.toBe(said.reply.knowledgeId);
});

test('an id that stands for a fact about something else is refused, and the fact stays as it was', async () => {
  const ofVisit = (subject: string, value: string): Said => {
    const { assertion } = term(value);
    return {
      knowledgeId: 'visit',
      statement: `The ${subject} takes ${value} days.`,
      ...(assertion && { assertion: { ...assertion, subject } }),
    };
  };
  await add(ofVisit('site visit', '3'));
  const remedy = /visit is about site visit \/ payment term, not audit \/ payment term .*: take another id or none/;
  await expect(add(ofVisit('audit', '5'))).rejects.toMatchObject({
    code: 'FACT_CONFLICT',
    message: expect.stringMatching(remedy),
  });
  const plain = { knowledgeId: 'visit', statement: 'Visits are announced by letter.' };
  await expect(add(plain)).rejects.toMatchObject({
    code: 'FACT_CONFLICT',
    message: expect.stringMatching(/visit is about site visit \/ payment term .*say it with that subject/),
  });
  expect(await history('visit')).toEqual([['3', null, null]]);
  expect((await add(ofVisit('site visit', '4'))).reply).toMatchObject({ knowledgeId: 'visit', outcome: 'updated' });
});

test('a fact in words alone gets no subject by its id, which may be that of another fact', async () => {
  await add({ knowledgeId: 'pool', statement: 'The pool opens at 8.' });
  await expect(add(term('45', { knowledgeId: 'pool' }))).rejects.toMatchObject({
    code: 'FACT_CONFLICT',
    message: expect.stringMatching(/pool has no subject, .*invoice \/ payment term .*: take another id or none/),
  });
  const reworded = await add({ knowledgeId: 'pool', statement: 'The pool opens at 9.' });
  expect(reworded.reply).toMatchObject({ knowledgeId: 'pool', outcome: 'updated' });
});

test.each(['', ' ', '\u200b\u00a0\n'])('what shows nothing is refused by name: "%s"', async (blank) => {
  const { assertion, ...plain } = term('30');
  if (assertion === undefined) throw new Error('no assertion');
  const refused = (field: string) => ({ code: 'INVALID_INPUT', details: { field } });
  await expect(add({ ...plain, statement: blank })).rejects.toMatchObject(refused('statement'));
  for (const field of ['subject', 'predicate'])
    await expect(add({ ...plain, assertion: { ...assertion, [field]: blank } })).rejects.toMatchObject(refused(field));
});

test('bad input is refused with the field and the way out', async () => {
  await expect(add(term('30', { validFrom: '2030-01-01', validUntil: '2029-01-01' }))).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: { field: 'validFrom' },
  });
  await expect(add({ statement: 'The key is AKIAIOSFODNN7EXAMPLE and it opens everything.' })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: { field: 'statement' },
  });
  const twin = (id: string) => term('7', { knowledgeId: id, statement: `Twins take 7 days (${id}).` });
  const of = (said: Said) => ({
    ...said,
    ...(said.assertion && { assertion: { ...said.assertion, subject: 'twin' } }),
  });
  await add(of(twin('twin-a')));
  await add(of(twin('twin-b')));
  const { knowledgeId: _, ...unnamed } = of(term('8'));
  await expect(add(unnamed)).rejects.toMatchObject({ code: 'FACT_CONFLICT' });
});
