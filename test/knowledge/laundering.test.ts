import type { Candidate, LaunderReport } from '@cleanslate/contracts';
import { DEFAULT_SCREEN } from '@cleanslate/domain';
import { findFactAt, listDisputes, listReports, takeTurn, withTransaction } from '@cleanslate/store';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { resolveDispute } from '../../services/knowledge-maintainer/src/handlers/resolve-dispute.ts';
import { retractFact } from '../../services/knowledge-maintainer/src/handlers/retract-fact.ts';
import { settleBatch } from '../../services/knowledge-maintainer/src/handlers/settle-batch.ts';
import { unarchiveFact } from '../../services/knowledge-maintainer/src/handlers/unarchive-fact.ts';
import { launder, previewLaundering } from '../../services/knowledge-maintainer/src/laundering/launder.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

let at: KnowledgeDatabase;
beforeEach(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
});
afterEach(async () => {
  await at[Symbol.asyncDispose]();
});

const tenantId = 'acme';
let requests = 0;
const call = <T>(data: T) => ({ tenantId, requestId: `r-${requests++}`, data });

type Said = { readonly id: string; readonly subject?: string; readonly value: string } & Partial<Candidate>;

/** What an agent read: facts of the working layer, which fade. */
async function propose(...said: readonly Said[]): Promise<void> {
  const taskId = `t-${requests++}`;
  const candidates = said.map(({ id, subject = id, value, ...more }) => ({
    tenantId,
    taskId,
    candidateId: `${taskId}-${id}`,
    messageId: `${taskId}-${id}`,
    epoch: 1,
    stepId: 's',
    attempt: 1,
    claimId: 'c',
    saidAt: new Date().toISOString(),
    body: {
      statement: `${subject} takes ${value} days.`,
      knowledgeType: 'conclusion' as const,
      tags: [],
      knowledgeId: id,
      sourceType: 'internal_document' as const,
      sourceRef: `doc:${id}`,
      layer: 'working' as const,
      confidence: 1,
      importance: 0.8,
      derivedFrom: [],
      assertion: {
        subject,
        predicate: 'days',
        value,
        unit: 'days',
        polarity: 'positive' as const,
        modality: 'must' as const,
      },
      ...more,
    },
  }));
  const claims = [{ stepId: 's', attempt: 1, claimId: 'c', candidates: candidates.map((each) => each.candidateId) }];
  const settled = { tenantId, taskId, verdict: 'passed' as const, validatorScore: 1, claims, messageId: `s-${taskId}` };
  const { outcomes } = await settleBatch(at.database, { candidates, settlements: [settled] }, DEFAULT_SCREEN);
  expect(outcomes).toEqual(said.map(() => expect.stringMatching(/^(accepted|updated)$/)));
}

/** A person's word, which is core and never fades. */
async function state(knowledgeId: string, subject: string, value: string): Promise<void> {
  const fact = {
    knowledgeId,
    subject,
    predicate: 'days',
    unit: 'days',
    tags: [],
    knowledgeType: 'rule' as const,
    polarity: 'positive' as const,
    modality: 'must' as const,
    periods: [{ value, statement: `${subject} takes ${value} days.`, validFrom: null, validUntil: null }],
  };
  const { reply } = await importFacts(
    at.database,
    call({ sourceRef: 'p', sourceType: 'human_confirmed' as const, facts: [fact] }),
  );
  expect(reply.outcomes[0]?.outcome).toBe('accepted');
}

/** A completed task that read these versions and answered with some of them, so many days ago. */
async function answer(taskId: string, read: readonly string[], cited: readonly string[], daysAgo = 0): Promise<void> {
  const endedAt = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  const said = {
    tenantId,
    taskId,
    verdict: 'passed' as const,
    validatorScore: 1,
    claims: [],
    messageId: `s-${taskId}`,
  };
  const reads = [{ stepId: 'retrieve', attempt: 1, at: endedAt, facts: [...read] }];
  const used = cited.length === 0 ? null : { at: endedAt, holdsAt: null, facts: [...cited] };
  await settleBatch(at.database, { candidates: [], settlements: [{ ...said, reads, answer: used }] }, DEFAULT_SCREEN);
}

/** Everything was written so many days earlier than it was. */
async function age(days: number): Promise<void> {
  const client = await at.admin.connect();
  try {
    await client.query('BEGIN');
    // The clock of knowledge can't be set back otherwise: a trigger refuses it.
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(`UPDATE knowledge.revisions SET committed_at = committed_at - make_interval(days => $1)`, [
      days,
    ]);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

const run = async () => (await launder(at.database, tenantId, 'person')).report;
const texts = ({ actions }: LaunderReport) =>
  actions.map((each) =>
    [
      each.action,
      each.fact,
      ...(each.action === 'merge' ? [each.into] : each.action === 'dispute' ? [each.challenger] : []),
    ].join(' '),
  );

function read(knowledgeId: string, revision: number) {
  const pin = { validAt: new Date().toISOString(), revision };
  return withTransaction(at.database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, (tx) =>
    findFactAt(tx, tenantId, pin, knowledgeId),
  );
}
async function marks(): Promise<string[]> {
  const { rows } = await at.admin.query<{ mark: string }>(
    `SELECT downstream_id || ' < ' || cause_id || ' ' || cause AS mark FROM knowledge.marks WHERE upper_inf(revisions) ORDER BY 1`,
  );
  return rows.map(({ mark }) => mark);
}

test('a run does what its preview said, once; whoever is pinned before it sees nothing of it', async () => {
  await state('law-a', 'notice', '30');
  await propose({ id: 'twin', subject: 'notice', value: '30' }, { id: 'odd', subject: 'notice', value: '60' });
  await propose({ id: 'faded', value: '7' }, { id: 'used', value: '7' }, { id: 'recent', value: '7', importance: 1 });
  await answer('task-used', ['used@1'], []);
  await age(40);
  await propose({ id: 'young', value: '7', importance: 0.3 });
  const preview = await previewLaundering(at.database, tenantId);
  const before = preview.revision;
  expect(texts(preview)).toEqual([
    'merge twin@1 law-a@1',
    'dispute law-a@1 odd@1',
    'archive faded@1',
    'archive odd@1',
    'archive recent@1',
  ]);
  expect(preview.reportId).toBeNull();
  const report = await run();
  expect(report.actions).toEqual(preview.actions);
  expect(report.proposals).toEqual(preview.proposals);
  for (const gone of ['twin', 'faded', 'odd', 'recent']) {
    expect([gone, await read(gone, report.revision)]).toEqual([gone, undefined]);
    expect([gone, (await read(gone, before))?.version]).toEqual([gone, 1]);
  }
  for (const kept of ['law-a', 'used', 'young']) expect((await read(kept, report.revision))?.version).toBe(1);
  expect(texts(await run())).toEqual([]);
  const reports = await withTransaction(at.database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, (tx) =>
    listReports(tx, tenantId, {}),
  );
  expect(reports.map(({ reportId, actions }) => [reportId, actions.length])).toEqual([
    [(report.reportId ?? 0) + 1, 0],
    [report.reportId, 5],
  ]);
  const { rows } = await at.admin.query(
    `SELECT decision, count(*)::int AS n FROM knowledge.audit WHERE source_message_id LIKE 'launder:%' GROUP BY 1 ORDER BY 1`,
  );
  expect(rows).toEqual([
    { decision: 'archived', n: 4 },
    { decision: 'disputed', n: 1 },
  ]);
});

test('what rests on an archived fact still stands; merged, it rests on the twin and falls with that', async () => {
  await state('keeper', 'cap', '9');
  await propose({ id: 'copy', subject: 'cap', value: '9' }, { id: 'old', value: '5' });
  await propose({ id: 'child', value: '1', derivedFrom: ['copy@1'], layer: 'core' });
  await answer('task-old', ['old@1'], ['old@1'], 40);
  await age(60);
  expect(texts(await run())).toEqual(['merge copy@1 keeper@1', 'archive old@1']);
  expect(await marks()).toEqual([]);
  await retractFact(at.database, call({ knowledgeId: 'keeper', reason: 'wrong' }));
  expect(await marks()).toEqual(['child < keeper retracted']);
});

test('an archived fact comes back, and fades anew; a newer saying of it leaves the archive too', async () => {
  await propose({ id: 'one', value: '5' }, { id: 'two', value: '6' });
  await answer('task', ['one@1'], ['one@1'], 50);
  await age(60);
  expect(texts(await run())).toEqual(['archive one@1', 'archive two@1']);
  const back = await unarchiveFact(at.database, call({ knowledgeId: 'one' }));
  expect(back.reply.versions).toEqual([2]);
  expect(await read('one', back.reply.revision)).toMatchObject({ version: 2, assertion: { value: '5' } });
  await expect(unarchiveFact(at.database, call({ knowledgeId: 'one' }))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await propose({ id: 'two', value: '8' });
  await expect(unarchiveFact(at.database, call({ knowledgeId: 'two' }))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(texts(await run())).toEqual([]);
  // What it said before rests on nothing that fell: the same is believed again. Said otherwise, it would be marked.
  expect(await marks()).toEqual([]);
});

test('a question that a person answered is not asked again', async () => {
  await propose({ id: 'first', subject: 'fee', value: '1' }, { id: 'second', subject: 'fee', value: '2' });
  expect(texts(await run())).toEqual(['dispute first@1 second@1']);
  const disputes = () =>
    withTransaction(at.database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, (tx) =>
      listDisputes(tx, tenantId, {}),
    );
  const [dispute] = await disputes();
  expect(dispute?.challenger).toMatchObject({ statement: 'fee takes 2 days.' });
  await resolveDispute(at.database, call({ disputeId: dispute?.disputeId ?? 0, keep: 'incumbent' as const }));
  expect(texts(await run())).toEqual([]);
  expect(await disputes()).toEqual([]);
});

test('proposals and measures: read in vain, expired, said by people twice; accuracy and recall as counted by hand', async () => {
  await state('said', 'limit', '4');
  await state('said-again', 'limit', '4');
  await propose(
    { id: 'vain', value: '3' },
    { id: 'cited', value: '2' },
    { id: 'lease', value: '1', validUntil: '2020-01-01T00:00:00.000Z' },
  );
  await propose({
    id: 'ended',
    value: '1',
    validFrom: '2020-01-01T00:00:00.000Z',
    validUntil: new Date(Date.now() - 1_000).toISOString(),
  });
  for (let n = 0; n < 20; n++) await answer(`task-${n}`, ['vain@1', 'cited@1'], n < 5 ? ['cited@1'] : []);
  await retractFact(at.database, call({ knowledgeId: 'lease', reason: 'never' }));
  const { proposals, measures } = await run();
  expect(proposals.map(({ proposal, fact, other }) => [proposal, fact, other])).toEqual([
    ['duplicate', 'said-again@1', 'said@1'],
    ['expired', 'ended@1', null],
    ['never_cited', 'vain@1', null],
  ]);
  expect(measures).toEqual({ writeAccuracy: 3 / 4, sampled: 4, recallHitRate: 5 / 20, tasks: 20 });
});

test('of many replicas that look at once, one has the turn', async () => {
  const take = (leaseMs: number) =>
    withTransaction(at.database, { role: 'cleanslate_maintainer' }, (tx) => takeTurn(tx, 'laundering', leaseMs));
  expect(await take(60_000)).toBe(false);
  await at.admin.query(`UPDATE knowledge.timetable SET due_at = now()`);
  const turns = await Promise.all(Array.from({ length: 6 }, () => take(60_000)));
  expect(turns.filter(Boolean)).toHaveLength(1);
  await at.admin.query('SELECT knowledge.maintain_indexes()');
});
