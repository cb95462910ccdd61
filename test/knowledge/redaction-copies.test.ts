import type { Candidate, FactImport } from '@cleanslate/contracts';
import { DEFAULT_SCREEN } from '@cleanslate/domain';
import type { NewCandidate } from '@cleanslate/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeReview } from '../../services/knowledge-maintainer/src/handlers/close-review.ts';
import { confirmErasures } from '../../services/knowledge-maintainer/src/handlers/confirm-erasures.ts';
import { giveFeedback } from '../../services/knowledge-maintainer/src/handlers/give-feedback.ts';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { redactFact } from '../../services/knowledge-maintainer/src/handlers/redact-fact.ts';
import { resolveDispute } from '../../services/knowledge-maintainer/src/handlers/resolve-dispute.ts';
import { type MaintainerBatch, settleBatch } from '../../services/knowledge-maintainer/src/handlers/settle-batch.ts';
import { unarchiveFact } from '../../services/knowledge-maintainer/src/handlers/unarchive-fact.ts';
import { carryOutActions } from '../../services/knowledge-maintainer/src/laundering/carry-out-actions.ts';
import { aFact } from '../fixtures/facts.ts';
import { BACKENDS, type KnowledgeDatabase, openBackend } from './knowledge-database.ts';

let at: KnowledgeDatabase;
let requests = 0;
const requestId = () => `r-${requests++}`;
/** Each test has a tenant of its own. */
let tenantId = '';
let tenants = 0;

const SECRET = 'Ann earns 30,000 (gross) a year.';

function fact(knowledgeId: string, statement: string, value = '30'): FactImport {
  return { ...aFact(knowledgeId, statement, value), subject: `${knowledgeId} subject` };
}

async function state(facts: readonly FactImport[], sourceType: Candidate['sourceType'] = 'internal_document') {
  const data = { sourceRef: `doc:${sourceType}`, sourceType: sourceType as 'internal_document', facts: [...facts] };
  return (await importFacts(at.database, { tenantId, requestId: requestId(), data })).reply;
}

function said(of: FactImport, statement: string, value: string): Candidate {
  const { knowledgeId, subject, predicate, unit, polarity, modality } = of;
  return {
    statement,
    knowledgeType: 'rule',
    sourceType: 'internal_document',
    sourceRef: 'doc:other',
    knowledgeId,
    confidence: 1,
    importance: 1,
    derivedFrom: [],
    tags: [],
    assertion: { subject, predicate, value, unit, polarity, modality },
  };
}

/** A task that proposes these, and whose answer rests on those. */
async function task(taskId: string, bodies: readonly Candidate[], answer: readonly string[] = []) {
  const candidates = bodies.map((body, n): NewCandidate => {
    const ids = { candidateId: `${taskId}-${n}`, messageId: `${taskId}-${n}`, stepId: 's', attempt: 1, claimId: 'c' };
    return { tenantId, taskId, ...ids, epoch: 1, body, saidAt: new Date().toISOString() };
  });
  const claims = [{ stepId: 's', attempt: 1, claimId: 'c', candidates: candidates.map((item) => item.candidateId) }];
  const grounds = answer.length === 0 ? null : { at: new Date().toISOString(), holdsAt: null, facts: [...answer] };
  const settlement: MaintainerBatch['settlements'][number] = {
    tenantId,
    taskId,
    verdict: 'passed',
    validatorScore: 1,
    claims,
    reads: [],
    answer: grounds,
    messageId: `s-${taskId}`,
  };
  await settleBatch(at.database, { candidates, settlements: [settlement] }, DEFAULT_SCREEN);
}

async function redact(knowledgeId: string) {
  const data = { knowledgeId, reason: 'ticket 811', by: 'maria' };
  return (await redactFact(at.database, { tenantId, requestId: requestId(), data })).reply;
}

/** As the scheduler says that it is done; then the maintainer's look. Returns what failed. */
async function confirm(): Promise<unknown[]> {
  await at.admin.query(
    `INSERT INTO ledger.erasures (redaction_id, tenant_id, done_at) SELECT redaction_id, tenant_id, now() FROM knowledge.redactions ON CONFLICT DO NOTHING`,
  );
  const failed: unknown[] = [];
  await confirmErasures(at.database, (error) => failed.push(error));
  return failed;
}

async function rows<T>(sql: string): Promise<T[]> {
  return (await at.admin.query(sql, [tenantId])).rows as T[];
}

/** What of these tables holds the words. */
async function holding(words: string): Promise<string[]> {
  const found = await rows<{ place: string; text: string }>(
    `SELECT 'candidates' AS place, concat_ws(' ', body::text, reason) AS text FROM knowledge.candidates WHERE tenant_id = $1
     UNION ALL SELECT 'disputes', concat_ws(' ', challenger::text, reason, resolution_reason) FROM knowledge.disputes WHERE tenant_id = $1
     UNION ALL SELECT 'feedback', note FROM knowledge.feedback WHERE tenant_id = $1
     UNION ALL SELECT 'reviews', outcome FROM knowledge.reviews WHERE tenant_id = $1
     UNION ALL SELECT 'audit', reason FROM knowledge.audit WHERE tenant_id = $1 AND decision <> 'redacted'`,
  );
  return [...new Set(found.filter(({ text }) => text?.includes(words)).map(({ place }) => place))].sort();
}

describe.each(BACKENDS)('copies of redacted words on %s', (backend) => {
  beforeAll(async () => {
    at = await openBackend(backend);
  });
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
  });
  const begin = () => {
    tenantId = `t-${tenants++}`;
  };

  it('go from disputes and candidates of other facts, whose incumbent stays', async () => {
    begin();
    const [secret, other, third] = [
      fact('ann', SECRET),
      fact('other', 'The fee is 5.', '5'),
      fact('third', 'Yes.', '1'),
    ];
    await state([secret, other, third]);
    await task('t-1', [
      said(other, `The fee is 6. ${SECRET}`, '6'),
      { ...said(other, `So: ${SECRET}`, '7'), confidence: 0.1 },
    ]);
    // Laundering asks with the words of another fact.
    const action = { action: 'dispute', fact: 'third@1', challenger: 'ann@1' } as const;
    await carryOutActions(at.database, tenantId, [action]);
    expect(await holding('earns')).toEqual(['candidates', 'disputes']);
    const reply = await redact('ann');
    expect(reply.disputes).toBe(2);
    expect(await confirm()).toEqual([]);
    expect(await holding('earns')).toEqual([]);
    const disputes = await rows<{ id: number; resolution: string }>(
      'SELECT dispute_id AS id, resolution FROM knowledge.disputes WHERE tenant_id = $1',
    );
    expect(disputes.map(({ resolution }) => resolution)).toEqual(['incumbent', 'incumbent']);
    for (const { id } of disputes)
      await expect(
        resolveDispute(at.database, { tenantId, requestId: requestId(), data: { disputeId: id, keep: 'challenger' } }),
      ).rejects.toMatchObject({ code: 'FACT_CONFLICT' });
    const kept = await rows<{ id: string }>(
      'SELECT knowledge_id AS id FROM knowledge.fact_versions WHERE tenant_id = $1 AND upper_inf(revisions) ORDER BY 1',
    );
    expect(kept.map(({ id }) => id)).toEqual(['other', 'third']);
  });

  it('that another fact holds are named, and stay with it and with the candidate that it was made of', async () => {
    begin();
    const other = fact('other', 'unused');
    await state([fact('ann', SECRET)]);
    await task('t-1', [said(other, `It is said: ${SECRET}`, '6')]);
    expect((await redact('ann')).elsewhere).toEqual(['other@1']);
    expect(await confirm()).toEqual([]);
    expect(await holding('earns')).toEqual(['candidates']);
  });

  it('that are short are named in whatever many facts hold their letters', async () => {
    begin();
    const many = Array.from({ length: 60 }, (_, n) => fact(`many-${n}`, `The network ${n} is up.`, String(n)));
    await state([fact('net', 'Net', 'x'), ...many, fact('other', 'It is paid net.', 'y')]);
    expect((await redact('net')).elsewhere).toEqual(['other@1']);
  });

  it('are looked for by what the fact said, not by what was merely proposed for it or contradicted it', async () => {
    begin();
    const ann = fact('ann', SECRET, '30000');
    await state([ann]);
    const rephrased = 'A year Ann earns 30,000 (gross).';
    await task('t-1', [said(ann, rephrased, '30000'), said(ann, 'The salary is set by law.', '9')]);
    await task('t-2', [{ ...said(ann, '5', '5'), confidence: 0.1 }, said(ann, `Note: ${SECRET}`, '8')]);
    await task('t-3', [said(fact('law', 'x'), 'The salary is set by law.', '9')]);
    await redact('ann');
    const [redaction] = await rows<{ phrases: string[] }>(
      'SELECT phrases FROM knowledge.redactions WHERE tenant_id = $1',
    );
    expect([...(redaction?.phrases ?? [])].sort()).toEqual([rephrased, SECRET, `Note: ${SECRET}`].sort());
    expect(await confirm()).toEqual([]);
    expect(await holding('earns')).toEqual([]);
    // Their own rows tell nothing either; what says the same elsewhere is another fact's.
    expect(await holding('set by law')).toEqual(['candidates']);
  });

  it('that stand where nobody can read them are erased as well, named, and hold up no other redaction', async () => {
    begin();
    await state([fact('ann', SECRET), fact('other', 'The fee is 5.', '5')]);
    const unreadable = JSON.stringify({ knowledgeType: 'of another release', statement: SECRET });
    for (const [id, knowledgeId] of [
      ['c-own', 'ann'],
      ['c-other', 'other'],
    ])
      await at.admin.query(
        `INSERT INTO knowledge.candidates (tenant_id, candidate_id, task_id, step_id, attempt, claim_id, message_id, body, said_at, state, outcome, knowledge_id, version)
         VALUES ($1, $2, 't', 's', 1, 'c', 'm', $4, now(), 'settled', 'rejected', $3, 1)`,
        [tenantId, id, knowledgeId, unreadable],
      );
    await at.admin.query(
      `INSERT INTO knowledge.disputes (tenant_id, knowledge_id, incumbent_version, challenger, challenger_signature, reason, source_message_id, revisions)
       VALUES ($1, 'other', 1, $2, '', 'says otherwise', 'm', int8range(1, NULL))`,
      [tenantId, unreadable],
    );
    await redact('ann');
    expect(await confirm()).toEqual([]);
    expect(await holding('earns')).toEqual([]);
    const named = await rows<{ reason: string }>(
      `SELECT reason FROM knowledge.audit WHERE tenant_id = $1 AND reason LIKE '%read%' ORDER BY reason`,
    );
    expect(named.map(({ reason }) => reason)).toEqual([
      "candidate c-own can't be read and was erased whole",
      expect.stringMatching(/^the challenger of dispute \d+ can't be read and was erased whole$/),
    ]);
  });

  it('that can not be taken out of one fact hold up the end of no other redaction', async () => {
    begin();
    await state([fact('ann', SECRET), fact('bo', 'Bo earns 31,000 (gross) a year.')]);
    const [stuck, free] = [await redact('ann'), await redact('bo')];
    await at.admin.query(`CREATE FUNCTION knowledge.refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.redaction_id = ${stuck.redactionId} THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END $$`);
    await at.admin.query(
      'CREATE TRIGGER refuse_one BEFORE UPDATE ON knowledge.redactions FOR EACH ROW EXECUTE FUNCTION knowledge.refuse_one()',
    );
    const message = expect.stringContaining(`redaction ${stuck.redactionId} `);
    expect(await confirm()).toEqual([expect.objectContaining({ message })]);
    const open = () =>
      rows<{ id: number }>(
        'SELECT redaction_id AS id FROM knowledge.redactions WHERE tenant_id = $1 AND confirmed_at IS NULL',
      );
    expect(await open()).toEqual([{ id: stuck.redactionId }]);
    expect(free.redactionId).not.toBe(stuck.redactionId);
    await at.admin.query('DROP FUNCTION knowledge.refuse_one() CASCADE');
    expect(await confirm()).toEqual([]);
    expect(await open()).toEqual([]);
  });

  it('go from notes, reviews and the audit of other facts, also where they were written after the redaction', async () => {
    begin();
    await state([fact('ann', SECRET), fact('other', 'The fee is 5.', '5')]);
    await task('t-1', [], ['ann@1', 'other@1']);
    const feedback = (by: string) =>
      giveFeedback(at.database, {
        tenantId,
        requestId: requestId(),
        data: { taskId: 't-1', verdict: 'wrong', by, note: `“${SECRET}” is wrong` },
      });
    const { reply } = await feedback('bo');
    for (const reviewId of reply.reviews)
      await closeReview(at.database, {
        tenantId,
        requestId: requestId(),
        data: { reviewId, by: 'cy', reason: `I know that ${SECRET}` },
      });
    expect(await holding('earns')).toEqual(['audit', 'feedback', 'reviews']);
    await redact('ann');
    expect(await holding('earns')).toEqual([]);
    await feedback('di');
    expect(await holding('earns')).toEqual(['feedback']);
    expect(await confirm()).toEqual([]);
    expect(await holding('earns')).toEqual([]);
    const notes = await rows<{ note: string }>(
      `SELECT note FROM knowledge.feedback WHERE tenant_id = $1 AND knowledge_id = 'other' ORDER BY person`,
    );
    expect(notes.map(({ note }) => note)).toEqual(['“[redacted]” is wrong', '“[redacted]” is wrong']);
  });

  it('do not come back from the archive, nor as a challenger, nor as what an imported one said', async () => {
    begin();
    const [ann, same, open] = [fact('ann', SECRET), fact('same', 'unused'), fact('open', 'The fee is 5.', '5')];
    const twin: FactImport = {
      ...ann,
      knowledgeId: 'twin',
      periods: same.periods.map((p) => ({ ...p, statement: SECRET })),
    };
    await state([ann, twin], 'human_confirmed');
    await state([open], 'human_confirmed');
    const merge = { action: 'merge', fact: 'twin@1', into: 'ann@1' } as const;
    await carryOutActions(at.database, tenantId, [merge]);
    // The same in other words, as a challenger of a fact of another name; and an import that contradicts.
    const { subject, predicate, unit, polarity, modality } = ann;
    const assertion = { subject, predicate, value: '30', unit, polarity, modality } as const;
    await task('t-1', [{ ...said(open, 'Ann a year earns 30,000 gross.', '30'), assertion }]);
    await state([fact('ann', 'Ann earns 45,000 a year, says the registry.', '45000')], 'external_source');
    await redact('ann');
    await expect(
      unarchiveFact(at.database, { tenantId, requestId: requestId(), data: { knowledgeId: 'twin' } }),
    ).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('twin@1 says what was redacted'),
    });
    const [dispute] = await rows<{ id: number }>(
      `SELECT dispute_id AS id FROM knowledge.disputes WHERE tenant_id = $1 AND knowledge_id = 'open' AND resolution IS NULL`,
    );
    const data = { disputeId: dispute?.id ?? 0, keep: 'challenger' } as const;
    await expect(resolveDispute(at.database, { tenantId, requestId: requestId(), data })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(
      state([fact('registry', 'Ann earns 45,000 a year, says the registry.', '45000')]),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('are redacted also behind tens of thousands of requests', async () => {
    begin();
    await state([fact('ann', SECRET)]);
    // In minutes, which the statement's deadline does not allow, where each hash is compared with all others.
    await at.admin.query(
      `INSERT INTO knowledge.requests (tenant_id, request_id, body_hash, reply)
       SELECT $1, 'old-' || n, encode(sha256(n::text::bytea), 'hex'), '{}' FROM generate_series(1, 20000) AS n`,
      [tenantId],
    );
    await redact('ann');
    expect(
      await rows(`SELECT FROM knowledge.requests WHERE tenant_id = $1 AND body_hash NOT LIKE 'keyed:%' LIMIT 1`),
    ).toEqual([]);
  });

  it('can not be guessed from the hashes of requests, which are still answered once', async () => {
    begin();
    const data = { sourceRef: 'doc', sourceType: 'internal_document' as const, facts: [fact('ann', SECRET)] };
    await importFacts(at.database, { tenantId, requestId: requestId(), data });
    const other = { ...data, facts: [fact('other', 'The fee is 5.', '5')] };
    const known = { tenantId, requestId: requestId(), data: other };
    const first = await importFacts(at.database, known);
    await redact('ann');
    const later = { tenantId, requestId: requestId(), data: { ...data, facts: [fact('later', 'The fee is 7.', '7')] } };
    const second = await importFacts(at.database, later);
    const hashes = await rows<{ hash: string }>(
      'SELECT body_hash AS hash FROM knowledge.requests WHERE tenant_id = $1',
    );
    expect(hashes.length).toBeGreaterThan(2);
    expect(hashes.filter(({ hash }) => !hash.startsWith('keyed:'))).toEqual([]);
    expect((await importFacts(at.database, known)).reply).toEqual(first.reply);
    expect((await importFacts(at.database, later)).reply).toEqual(second.reply);
    await expect(importFacts(at.database, { ...known, data })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });
});
