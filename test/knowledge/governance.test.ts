import type { Candidate, FactImport } from '@cleanslate/contracts';
import { DEFAULT_SCREEN, weightAfter } from '@cleanslate/domain';
import { findFactAt, getLastRevision, type NewCandidate, withTransaction } from '@cleanslate/store';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { closeReview } from '../../services/knowledge-maintainer/src/handlers/close-review.ts';
import { giveFeedback } from '../../services/knowledge-maintainer/src/handlers/give-feedback.ts';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { redactFact } from '../../services/knowledge-maintainer/src/handlers/redact-fact.ts';
import { retractFact } from '../../services/knowledge-maintainer/src/handlers/retract-fact.ts';
import { retractSource } from '../../services/knowledge-maintainer/src/handlers/retract-source.ts';
import { type MaintainerBatch, settleBatch } from '../../services/knowledge-maintainer/src/handlers/settle-batch.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

let at: KnowledgeDatabase;
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

const tenantId = 'acme';
let requests = 0;
const requestId = () => `r-${requests++}`;

function fact(knowledgeId: string, value: string): FactImport {
  return {
    knowledgeId,
    subject: knowledgeId,
    predicate: 'days',
    unit: 'days',
    tags: [],
    polarity: 'positive',
    modality: 'must',
    knowledgeType: 'rule',
    periods: [{ value, statement: `${knowledgeId} takes ${value} days.`, validFrom: null, validUntil: null }],
  };
}

async function state(sourceRef: string, ...facts: FactImport[]) {
  const data = { sourceRef, sourceType: 'internal_document' as const, facts };
  return (await importFacts(at.database, { tenantId, requestId: requestId(), data })).reply;
}

function said(id: string, value: string, sourceRef: string, derivedFrom: string[] = []): Candidate {
  return {
    statement: `${id} takes ${value} days.`,
    knowledgeType: 'conclusion',
    sourceType: 'internal_document',
    knowledgeId: id,
    sourceRef,
    confidence: 1,
    importance: 1,
    derivedFrom,
    tags: [],
    assertion: { subject: id, predicate: 'days', value, unit: 'days', polarity: 'positive', modality: 'must' },
  };
}

/** A task that proposes these, and whose answer rests on those; `verdict` null: it goes on. */
async function task(taskId: string, bodies: readonly Candidate[], answer: readonly string[] = [], settle = true) {
  const candidates = bodies.map((body, n): NewCandidate => {
    const ids = { candidateId: `${taskId}-${n}`, messageId: `${taskId}-${n}`, stepId: 's', attempt: 1, claimId: 'c' };
    return { tenantId, taskId, ...ids, epoch: 1, body, saidAt: new Date().toISOString() };
  });
  const claims = [{ stepId: 's', attempt: 1, claimId: 'c', candidates: candidates.map((item) => item.candidateId) }];
  const grounds = answer.length === 0 ? null : { at: new Date().toISOString(), holdsAt: null, facts: [...answer] };
  const verdict = 'passed' as const;
  const settlement: MaintainerBatch['settlements'][number] = {
    tenantId,
    taskId,
    verdict,
    validatorScore: 1,
    claims,
    reads: [],
    answer: grounds,
    messageId: `s-${taskId}`,
  };
  return await settleBatch(at.database, { candidates, settlements: settle ? [settlement] : [] }, DEFAULT_SCREEN);
}

async function feedback(taskId: string, verdict: 'wrong' | 'right', by: string) {
  return (await giveFeedback(at.database, { tenantId, requestId: requestId(), data: { taskId, verdict, by } })).reply;
}

async function weightOf(knowledgeId: string, revision?: number): Promise<number | undefined> {
  const scope = { role: 'cleanslate_gateway', tenantId, readOnly: true } as const;
  return await withTransaction(at.database, scope, async (tx) => {
    const pin = { validAt: new Date().toISOString(), revision: revision ?? (await getLastRevision(tx)) };
    return (await findFactAt(tx, tenantId, pin, knowledgeId))?.weight;
  });
}

describe('feedback', () => {
  it('moves weight as of a revision, opens one review, and counts a person once', async () => {
    const { revision: before } = await state('doc:a', fact('fb-a', '30'));
    await task('fb-task', [], ['fb-a@1']);
    const first = await feedback('fb-task', 'wrong', 'ann');
    expect(first).toMatchObject({ counted: true, facts: [{ fact: 'fb-a@1', weightBefore: 0.9, weight: 0.72 }] });
    const again = await feedback('fb-task', 'wrong', 'ann');
    expect(again).toMatchObject({ counted: false, revision: first.revision, reviews: first.reviews });
    const second = await feedback('fb-task', 'wrong', 'bo');
    expect(second.reviews).toEqual(first.reviews);
    expect([await weightOf('fb-a', before), await weightOf('fb-a', first.revision), await weightOf('fb-a')]).toEqual([
      0.9, 0.72, 0.576,
    ]);
    // Looked at: it stays, and what was said so far no longer counts.
    const [reviewId = 0] = first.reviews;
    const data = { reviewId, by: 'cy', reason: 'it is right', restoreWeight: true };
    await closeReview(at.database, { tenantId, requestId: requestId(), data });
    expect([await weightOf('fb-a', second.revision), await weightOf('fb-a')]).toEqual([0.576, 0.9]);
    expect(await feedback('fb-task', 'wrong', 'ann')).toMatchObject({ counted: true, facts: [{ weight: 0.72 }] });
  });

  it('weighs where the next statement is decided as it does where the fact is read', async () => {
    const rivalOf = async (id: string) => {
      await task(`rival-${id}`, [said(id, '60', 'doc:b')]);
      const { rows } = await at.admin.query<{ outcome: string }>(
        `SELECT outcome FROM knowledge.candidates WHERE task_id = 'rival-${id}'`,
      );
      return rows.map(({ outcome }) => outcome);
    };
    await state('doc:a', fact('fb-firm', '30'), fact('fb-doubted', '30'));
    await task('fb-doubted-task', [], ['fb-doubted@1']);
    for (const person of ['ann', 'bo', 'cy']) await feedback('fb-doubted-task', 'wrong', person);
    expect([await rivalOf('fb-firm'), await rivalOf('fb-doubted')]).toEqual([['disputed'], ['updated']]);
  });

  it('is refused for a task without an answer that rests on facts', async () => {
    await expect(feedback('nobody', 'wrong', 'ann')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('gives every revision the weight that its feedback says, whatever comes later', async () => {
    const votes = fc.array(
      fc.record({
        person: fc.constantFrom('a', 'b', 'c'),
        verdict: fc.constantFrom('wrong' as const, 'right' as const),
      }),
      { minLength: 1, maxLength: 8 },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(votes, async (history) => {
        const id = `fb-p-${run++}`;
        await state('doc:p', fact(id, '1'));
        await task(`t-${id}`, [], [`${id}@1`]);
        const expected: [number, number][] = [];
        for (const [n, { person, verdict }] of history.entries()) {
          const { revision } = await feedback(`t-${id}`, verdict, person);
          expected.push([revision, weightAfter(0.9, history.slice(0, n + 1))]);
        }
        // Later ones of the same revision changed nothing.
        for (const [revision, weight] of expected) expect(await weightOf(id, revision)).toBe(weight);
      }),
      { numRuns: 15 },
    );
  });
});

describe('retract by source', () => {
  it('ends all that one task contributed in one revision, keeps what others say too, and refuses what it still has waiting', async () => {
    await task('rs-1', [said('rs-a', '1', 'doc:x'), said('rs-b', '2', 'doc:x'), said('rs-c', '3', 'doc:x')]);
    await task('rs-2', [said('rs-c', '3', 'doc:y'), said('rs-d', '4', 'doc:y', ['rs-a@1'])]);
    await task('rs-1', [said('rs-e', '5', 'doc:x')], [], false);
    const data = { taskId: 'rs-1', reason: 'unreadable' };
    const dry = (
      await retractSource(at.database, { tenantId, requestId: requestId(), data: { ...data, dryRun: true } })
    ).reply;
    expect(dry).toMatchObject({ closed: ['rs-a@1', 'rs-b@1'], kept: ['rs-c@1'] });
    expect(await weightOf('rs-a')).toBeDefined();
    const { reply, outbox } = await retractSource(at.database, { tenantId, requestId: requestId(), data });
    expect(reply).toMatchObject({ closed: ['rs-a@1', 'rs-b@1'], kept: ['rs-c@1'], facts: 2 });
    expect(reply.revision).toBe(dry.revision + 1);
    expect(outbox).toHaveLength(2);
    const { rows } = await at.admin.query<{ ref: string; until: number }>(
      `SELECT knowledge_id || '@' || version AS ref, upper(revisions) AS until FROM knowledge.fact_versions WHERE knowledge_id LIKE 'rs-%' ORDER BY 1`,
    );
    expect(rows.map(({ ref, until }) => [ref, until])).toEqual(
      [
        ['rs-a@1', reply.revision],
        ['rs-b@1', reply.revision],
        ['rs-c@1', null],
        ['rs-d@1', null],
        ['rs-e@1', null],
      ].filter(([ref]) => ref !== 'rs-e@1' || rows.length === 5),
    );
    const { rows: marks } = await at.admin.query<{ id: string }>(
      `SELECT downstream_id AS id FROM knowledge.marks WHERE cause_id = 'rs-a' AND upper_inf(revisions)`,
    );
    expect(marks.map(({ id }) => id)).toEqual(['rs-d']);
    // Said again, the same is answered: nothing is left to retract.
    const again = (await retractSource(at.database, { tenantId, requestId: requestId(), data })).reply;
    expect(again).toMatchObject({ closed: [], facts: 0, revision: reply.revision });
  });

  it('ends all of one document, also what others say where told to', async () => {
    await state('doc:offer', fact('rd-a', '1'), fact('rd-b', '2'));
    await task('rd-1', [said('rd-b', '2', 'doc:other')]);
    const data = { sourceRef: 'doc:offer', reason: 'withdrawn' };
    const kept = (await retractSource(at.database, { tenantId, requestId: requestId(), data })).reply;
    expect(kept).toMatchObject({ closed: ['rd-a@1'], kept: ['rd-b@1'] });
    const all = { ...data, evenConfirmed: true };
    expect((await retractSource(at.database, { tenantId, requestId: requestId(), data: all })).reply.closed).toEqual([
      'rd-b@1',
    ]);
    const none = { tenantId, requestId: requestId(), data: { reason: 'x' } };
    await expect(retractSource(at.database, none)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});

/** The tables of facts, rebuilt from the log alone, beside what they hold. */
async function compareWithLog(): Promise<{ rebuilt: unknown; held: unknown }> {
  const columns = `'statement', 'subject', 'predicate', 'value', 'unit', 'signature', 'content_hash', 'source_ref', 'fact_key'`;
  const { rows: log } = await at.admin.query<{
    ref: string;
    kind: string;
    revision: number;
    body: Record<string, unknown>;
  }>(
    `SELECT knowledge_id || '@' || version AS ref, kind, revision, body FROM knowledge.fact_log ORDER BY revision, ordinal`,
  );
  const rebuilt = new Map<string, { body: unknown; from: number; until: number | null; redacted: boolean }>();
  for (const { ref, kind, revision, body } of log) {
    const known = rebuilt.get(ref);
    if (kind === 'asserted')
      rebuilt.set(ref, { body: pick(body), from: revision, until: null, redacted: 'redacted_revision' in body });
    else if (kind === 'closed' && known) rebuilt.set(ref, { ...known, until: revision });
    else if (kind === 'redacted' && known) expect(known.redacted).toBe(true);
  }
  const { rows: held } = await at.admin.query<{
    ref: string;
    body: unknown;
    from: number;
    until: number | null;
    redacted: boolean;
  }>(
    `SELECT knowledge_id || '@' || version AS ref, lower(revisions) AS from, upper(revisions) AS until, redacted_revision IS NOT NULL AS redacted,
       (SELECT json_object_agg(key, value) FROM jsonb_each(to_jsonb(v)) WHERE key IN (${columns})) AS body FROM knowledge.fact_versions v`,
  );
  return {
    rebuilt: Object.fromEntries(rebuilt),
    held: Object.fromEntries(
      held.map(({ ref, ...row }) => [ref, { ...row, body: pick(row.body as Record<string, unknown>) }]),
    ),
  };
}

function pick(body: Record<string, unknown>) {
  const { statement, subject, predicate, value, unit, signature, content_hash, source_ref, fact_key } = body;
  return { statement, subject, predicate, value, unit, signature, content_hash, source_ref, fact_key };
}

describe('redaction', () => {
  it('is reproduced by a rebuild from the log, refuses every return, and leaves every other fact as it was', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('state' as const),
        id: fc.integer({ min: 0, max: 3 }),
        value: fc.integer({ min: 1, max: 4 }),
      }),
      fc.record({ kind: fc.constant('retract' as const), id: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ kind: fc.constant('redact' as const), id: fc.integer({ min: 0, max: 3 }), one: fc.boolean() }),
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const prefix = `rx${run++}`;
        const gone = new Set<string>();
        for (const each of steps) {
          const id = `${prefix}-${each.id}`;
          const ignore = (error: { code?: string }) => expect(['NOT_FOUND', 'INVALID_INPUT']).toContain(error.code);
          if (each.kind === 'state') {
            const refused = gone.has(`${id} takes ${each.value} days.`);
            const stated = state('doc', fact(id, String(each.value)));
            if (refused) await expect(stated).rejects.toMatchObject({ code: 'INVALID_INPUT' });
            else await stated;
          } else if (each.kind === 'retract') {
            await retractFact(at.database, {
              tenantId,
              requestId: requestId(),
              data: { knowledgeId: id, reason: 'x' },
            }).catch(ignore);
          } else {
            const { rows } = await at.admin.query<{ version: number; statement: string }>(
              `SELECT version, statement FROM knowledge.fact_versions WHERE knowledge_id = $1 ORDER BY version`,
              [id],
            );
            const version = rows[0]?.version ?? 1;
            const data = { knowledgeId: id, reason: 'x', by: 'ann', ...(each.one ? { version } : {}) };
            await redactFact(at.database, { tenantId, requestId: requestId(), data }).catch(ignore);
            const first = rows[0]?.statement;
            for (const { statement } of rows)
              if (statement !== '' && (!each.one || statement === first)) gone.add(statement);
          }
        }
        const { rows } = await at.admin.query<{ text: string }>(
          `SELECT string_agg(v::text, ' ') AS text FROM (SELECT to_jsonb(f) AS v FROM knowledge.fact_versions f UNION ALL SELECT body::jsonb FROM knowledge.fact_log) all_rows`,
        );
        for (const statement of gone) expect(rows[0]?.text.includes(statement)).toBe(false);
        const { rebuilt, held } = await compareWithLog();
        expect(rebuilt).toEqual(held);
      }),
      { numRuns: 20 },
    );
  });

  it('names the other facts that hold its words, whose content it leaves alone', async () => {
    await state('doc', fact('ew', '9'));
    await state('doc', {
      ...fact('ew-more', '9'),
      periods: [
        { value: '9', statement: 'It is said that EW  takes 9 days. Really.', validFrom: null, validUntil: null },
      ],
    });
    const data = { knowledgeId: 'ew', reason: 'x', by: 'ann' };
    const { reply } = await redactFact(at.database, { tenantId, requestId: requestId(), data });
    expect(reply.elsewhere).toEqual(['ew-more@1']);
    expect(await weightOf('ew-more')).toBeDefined();
    expect(await weightOf('ew')).toBeUndefined();
  });

  it('does nothing for a dry run but tell, and the same request is answered the same', async () => {
    await state('doc', fact('dry', '7'));
    const data = { knowledgeId: 'dry', reason: 'x', by: 'ann' };
    const dry = (await redactFact(at.database, { tenantId, requestId: requestId(), data: { ...data, dryRun: true } }))
      .reply;
    expect(dry).toMatchObject({ redactionId: null, versions: ['dry@1'] });
    expect(await weightOf('dry')).toBeDefined();
    const id = requestId();
    const done = (await redactFact(at.database, { tenantId, requestId: id, data })).reply;
    expect((await redactFact(at.database, { tenantId, requestId: id, data })).reply).toEqual(done);
    expect((await redactFact(at.database, { tenantId, requestId: requestId(), data })).reply.redactionId).toBe(
      done.redactionId,
    );
    await expect(
      redactFact(at.database, { tenantId, requestId: requestId(), data: { ...data, knowledgeId: 'none' } }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('what may hold content', () => {
  /**
   * Columns of text, JSON and bytes that an erasure looks at, and those that hold names, states and numbers only. A new
   * one must be put into one of the two.
   */
  it('is all known: every column is erased from, or holds nothing that people say', async () => {
    const { rows } = await at.admin.query<{ name: string }>(
      `SELECT c.relname || '.' || a.attname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.relnamespace IN ('knowledge'::regnamespace, 'ledger'::regnamespace) AND c.relkind = 'r'
         AND a.atttypid::regtype::text IN ('text', 'json', 'jsonb', 'bytea', 'text[]', 'tsvector', 'public.vector', 'vector') ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name).filter((name) => !ERASED_FROM.has(name) && !NAMES.test(name))).toEqual([]);
  });
});

const NAMES =
  /\.(tenant_id|task_id|step_id|knowledge_id|candidate_id|claim_id|message_id|source_message_id|request_id|letter_id|upstream_id|downstream_id|cause_id|schedule_id|session_id|worker_id|key_id|submit_id|idempotency_key|person|redacted_by|resolved_by|closed_by|said_by|reset_by|by|batch|worker|role|executor|workflow|plan_key|supersedes|copied_from|forked_from|lineage_trust|kind|downstream_kind|cause|layer|knowledge_type|source_type|sensitivity|access_level|polarity|modality|space|model|normaliser|state|outcome|verdict|resolution|decision|purpose|stream|subject_name|consumer|status|phase|code|trigger|from_state|to_state|traceparent|name|relation|overlap|missed|cron|time_zone|priority|plan_hash|body_hash|sha256|key|hash|waits_for|tasks|what|replay_of|last_task_id|item_key|scope|measure|into_id|asked_by|duty)$|^(plans|workflows|launderings|turns|limits|revisions|allowed_transitions|meta|published|ticks|workers|tenants|sweeps|settlements|corpus_sizes|embedding_spaces|redaction_keys|redacted_contents)\./;
const ERASED_FROM = new Set(
  `fact_versions.statement fact_versions.subject fact_versions.predicate fact_versions.value fact_versions.unit fact_versions.fact_key fact_versions.signature
   fact_versions.content_hash fact_versions.source_ref fact_versions.lineage fact_versions.tags fact_lexemes.terms fact_embeddings.embedding fact_log.body
   candidates.body candidates.reason disputes.challenger disputes.challenger_signature disputes.reason disputes.resolution_reason sightings.source_ref
   adjustments.reason audit.reason outbox.body outbox.headers outbox.subject requests.reply redactions.phrases redactions.hashes redactions.reason
   feedback.note reviews.outcome tasks.input tasks.result tasks.error tasks.failing tasks.gate steps.output steps.feedback steps.error steps.failures steps.input_edit
   steps.after steps.applied steps.candidates events.envelope objects.bytes refusals.detail repairs.detail schedules.input schedules.last_error
   dead_letters.body dead_letters.edited dead_letters.headers dead_letters.error dead_letters.history dead_letters.reason dead_letters.subject dead_letters.lineage session_items.text`.split(
    /\s+/,
  ),
);
