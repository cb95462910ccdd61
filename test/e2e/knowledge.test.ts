import { Publisher } from '@cleanslate/bus';
import { encodeMessage, KnowledgePropose, KnowledgeSettle, subjects } from '@cleanslate/contracts';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { slate } from '../fixtures/slate.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['knowledge-maintainer', 'gateway'],
  });
});
afterAll(() => platform[Symbol.asyncDispose]());

const WAIT = { timeout: 45_000, interval: 50 };

function fact(knowledgeId: string, value: string) {
  return {
    knowledgeId,
    subject: 'supplier contract',
    predicate: knowledgeId,
    unit: 'days',
    tags: [],
    polarity: 'positive' as const,
    modality: 'must' as const,
    knowledgeType: 'rule' as const,
    periods: [
      { value, statement: `Supplier invoices are payable within ${value} days.`, validFrom: null, validUntil: null },
    ],
  };
}

/** What a finished task's analyzer put on the blackboard, and the scheduler's word that its claim won. */
async function propose(
  candidateId: string,
  statement: string,
  value: string,
  derivedFrom: string[] = [],
): Promise<void> {
  const taskId = `task-${candidateId}`;
  const worker = new Publisher(await platform.broker.connect({ kind: 'worker', role: 'analyzer' }));
  const scheduler = new Publisher(await platform.broker.connect({ kind: 'scheduler' }));
  const head = { source: '/services/analyzer', time: new Date().toISOString(), tenantid: 'acme', taskid: taskId };
  const claim = { stepid: 'analyze', attempt: 1, claimid: 'won' };
  const assertion = {
    subject: 'supplier contract',
    predicate: 'payment-term',
    value,
    unit: 'days',
    polarity: 'positive' as const,
    modality: 'must' as const,
  };
  const said = encodeMessage(
    KnowledgePropose,
    { ...head, ...claim, id: candidateId, candidateid: candidateId },
    {
      statement,
      assertion,
      knowledgeType: 'rule',
      sourceType: 'external_source',
      sourceRef: 'web:example.org',
      confidence: 0.95,
      importance: 0.9,
      derivedFrom,
      tags: [],
    },
  );
  await worker.publish({
    stream: 'BLACKBOARD',
    subject: subjects.blackboard('acme', taskId),
    body: said,
    messageId: candidateId,
  });
  const claims = [{ stepId: 'analyze', attempt: 1, claimId: 'won', candidates: [candidateId] }];
  const settle = encodeMessage(
    KnowledgeSettle,
    { ...head, source: '/services/scheduler', id: `settle-${candidateId}` },
    { taskId, verdict: 'passed', validatorScore: 1, claims },
  );
  await scheduler.publish({
    stream: 'COMMANDS',
    subject: subjects.settle('acme'),
    body: settle,
    messageId: `settle-${candidateId}`,
  });
}

it('a fact is stated, found, contradicted, decided about and retracted, by what a user has in hand', {
  timeout: 180_000,
}, async () => {
  const client = await platform.client('acme');
  await client.facts.import({
    sourceRef: 'handbook',
    sourceType: 'human_confirmed',
    facts: [fact('payment-term', '30'), fact('notice', '14')],
  });

  // Found by its words at once, and by its vector as soon as that is there.
  const found = await client.facts.search({ query: 'when is an invoice payable' });
  expect(found.hits[0]?.fact).toMatchObject({ knowledgeId: 'payment-term', version: 1 });
  await vi.waitFor(
    async () => expect((await client.facts.search({ query: 'invoice' })).space).toBe('hashed/384/words+grams-1'),
    WAIT,
  );

  // A web page can't displace what a person said: a question is opened, and readers see it.
  await propose('c-1', 'Supplier invoices are payable within 90 days.', '90');
  await vi.waitFor(async () => expect((await client.facts.disputes()).disputes).toHaveLength(1), WAIT);
  const [dispute] = (await client.facts.disputes()).disputes;
  const disputed = await client.facts.get({ knowledgeId: 'payment-term' });
  expect(disputed.fact).toMatchObject({ version: 1, disputes: [dispute?.disputeId] });
  const disputeId = dispute?.disputeId ?? 0;
  expect(await client.facts.resolve({ disputeId, keep: 'incumbent', reason: 'the web page is of 2019' })).toMatchObject(
    { resolution: 'incumbent' },
  );
  await expect(client.facts.resolve({ disputeId, keep: 'challenger' })).rejects.toMatchObject({
    code: 'FACT_CONFLICT',
  });
  await expect(client.facts.resolve({ disputeId: 999, keep: 'neither' })).rejects.toMatchObject({ code: 'NOT_FOUND' });

  // The same challenger is not asked about again; a recalled fact fed back is no second source.
  // Both are in the audit, with why.
  await propose('c-2', 'Supplier invoices are payable within 90 days.', '90');
  await propose('c-3', 'Supplier invoices are payable within 30 days.', '30', ['payment-term@1']);
  const audit = async (id: string) =>
    await platform.database.sql<{ reason: string; source: string }>(
      'SELECT reason, source_message_id AS source FROM knowledge.audit WHERE candidate_id = $1',
      [id],
    );
  await vi.waitFor(
    async () => expect(await audit('c-2')).toEqual([{ reason: 'a person decided against it', source: 'c-2' }]),
    WAIT,
  );
  await vi.waitFor(async () => expect(await audit('c-3')).toEqual([{ reason: 'recalled_fact', source: 'c-3' }]), WAIT);
  expect((await client.facts.disputes()).disputes).toEqual([]);
  expect((await client.facts.disputes({ all: true })).disputes).toMatchObject([
    { resolution: 'incumbent', resolvedBy: 'person' },
  ]);

  // The other side can win, too.
  await propose('c-4', 'Supplier invoices are payable within 45 days.', '45');
  await vi.waitFor(async () => expect((await client.facts.disputes()).disputes).toHaveLength(1), WAIT);
  const second = (await client.facts.disputes()).disputes[0]?.disputeId ?? 0;
  const won = await client.facts.resolve({ disputeId: second, keep: 'challenger' });
  expect(won.versions).toHaveLength(1);
  expect((await client.facts.get({ knowledgeId: 'payment-term' })).fact).toMatchObject({
    assertion: { value: '45' },
    sourceType: 'human_confirmed',
  });

  const before = found.revision;
  const gone = await client.facts.retract({ knowledgeId: 'notice', reason: 'withdrawn' });
  expect(gone.closed).toEqual(['notice@1']);
  await expect(client.facts.get({ knowledgeId: 'notice' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(client.facts.retract({ knowledgeId: 'notice', reason: 'again' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  expect((await client.facts.get({ knowledgeId: 'notice', revision: before })).fact.version).toBe(1);
  const pinned = await client.facts.search({
    query: 'when is an invoice payable',
    revision: before,
    validAt: found.validAt,
  });
  expect(pinned.hits.map(({ fact: view }) => `${view.knowledgeId}@${view.version}`)).toContain('payment-term@1');
  await expect(client.facts.search({ query: 'x', revision: 10_000 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
});

it('C19: gateway and maintainer whose embedding model is another than the stored one do not start, and say what to do', {
  timeout: 180_000,
}, async () => {
  for (const name of ['gateway', 'knowledge-maintainer'] as const)
    await expect(platform.start(name, { EMBEDDING_DIMENSION: '128' })).rejects.toThrow(/slate fact reembed/);
});

it('C19: a gateway that runs while the knowledge base is moved asks in the new space, without a restart', {
  timeout: 300_000,
}, async () => {
  const client = await platform.client('acme');
  const move = async (dimension: number) => {
    const target = ['--model', 'hashed', '--dimension', `${dimension}`, '--drop-retired'];
    expect(await slate(platform, 'fact', 'reembed', ...target)).toMatchObject({ code: 0 });
  };
  const askSpace = async () => (await client.facts.search({ query: 'when is an invoice payable' })).space;
  await move(256);
  expect(await askSpace()).toBe('hashed/256/words+grams-1');
  await move(384);
  expect(await askSpace()).toBe('hashed/384/words+grams-1');
});
