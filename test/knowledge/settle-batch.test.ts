import type { Candidate } from '@cleanslate/contracts';
import { DEFAULT_SCREEN } from '@cleanslate/domain';
import { findFactHistory, type NewCandidate, type TaskSettlement, withTransaction } from '@cleanslate/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { type MaintainerBatch, settleBatch } from '../../services/knowledge-maintainer/src/handlers/settle-batch.ts';
import { BACKENDS, type KnowledgeDatabase, openBackend } from './knowledge-database.ts';

let at: KnowledgeDatabase;

const tenantId = 'acme';
/** As of a revision that no clock reaches: the last. */
const LATEST = Number.MAX_SAFE_INTEGER;
let ids = 0;

function body(value: string, more: Partial<Candidate> = {}): Candidate {
  return {
    statement: `The payment term of contract 7 is ${value} days.`,
    assertion: {
      subject: 'contract 7',
      predicate: 'payment term',
      value,
      unit: 'days',
      polarity: 'positive',
      modality: 'is',
    },
    knowledgeType: 'clause',
    sourceType: 'internal_document',
    sourceRef: 'doc:contract-7',
    confidence: 0.95,
    importance: 0.8,
    derivedFrom: [],
    tags: [],
    ...more,
  };
}

function candidate(taskId: string, said: Candidate, more: Partial<NewCandidate> = {}): NewCandidate {
  const id = `candidate-${ids++}`;
  return {
    tenantId,
    taskId,
    candidateId: id,
    messageId: `message-${id}`,
    stepId: 'analyze',
    attempt: 1,
    claimId: 'won',
    epoch: 1,
    body: said,
    saidAt: new Date(Date.now() - 60_000).toISOString(),
    ...more,
  };
}

function settle(
  taskId: string,
  candidates: readonly NewCandidate[],
  verdict: TaskSettlement['verdict'] = 'passed',
): TaskSettlement {
  const claim = {
    stepId: 'analyze',
    attempt: 1,
    claimId: 'won',
    candidates: candidates.map((item) => item.candidateId),
  };
  return { tenantId, taskId, verdict, validatorScore: 0.9, claims: [claim], messageId: `settle-${ids++}` };
}

async function apply(batch: Partial<MaintainerBatch>) {
  const { outbox, outcomes } = await settleBatch(
    at.database,
    { candidates: [], settlements: [], ...batch },
    DEFAULT_SCREEN,
  );
  const events = outbox.map((row) => JSON.parse(row.body) as { type: string; data: Record<string, unknown> });
  const settled = events.filter((event) => event.type === 'candidates.settled.v1').map((event) => event.data);
  const changed = events.filter((event) => event.type === 'fact.changed.v1').map((event) => event.data);
  return { outcomes, settled, changed, outbox };
}

async function countRows(table: string): Promise<number> {
  const { rows } = await at.admin.query<{ n: number }>(`SELECT count(*)::int AS n FROM knowledge.${table}`);
  return rows[0]?.n ?? -1;
}

async function statesOf(taskId: string) {
  const { rows } = await at.admin.query<{ state: string; outcome: string | null; reason: string | null }>(
    'SELECT state, outcome, reason FROM knowledge.candidates WHERE task_id = $1 ORDER BY candidate_id',
    [taskId],
  );
  return rows;
}

describe.each(BACKENDS)('candidates on %s', (backend) => {
  beforeAll(async () => {
    at = await openBackend(backend);
  });
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
  });

  it('wait for the verdict, become a version once it passed, and change nothing when everything comes three times', async () => {
    const said = candidate('t-pass', body('30'));
    const first = await apply({ candidates: [said] });
    expect(first.outbox).toEqual([]);
    expect(await statesOf('t-pass')).toMatchObject([{ state: 'waiting' }]);
    const settlement = settle('t-pass', [said]);
    const done = await apply({ settlements: [settlement] });
    expect(done.settled).toMatchObject([
      { taskId: 't-pass', missing: [], outcomes: [{ candidateId: said.candidateId, outcome: 'accepted', version: 1 }] },
    ]);
    expect(done.changed).toMatchObject([{ change: 'accepted', version: 1 }]);
    const before = [await countRows('fact_versions'), await countRows('fact_log'), await countRows('audit')];
    const revision = done.settled[0]?.['revision'];
    for (let again = 0; again < 3; again++) {
      const repeat = await apply({ candidates: [said], settlements: [{ ...settlement, messageId: `again-${again}` }] });
      expect(repeat.changed).toEqual([]);
      expect(repeat.settled).toEqual([{ ...done.settled[0], revision }]);
    }
    expect([await countRows('fact_versions'), await countRows('fact_log'), await countRows('audit')]).toEqual(before);
  });

  it('of a losing claim are dropped, with an audit row', async () => {
    const won = candidate(
      't-claims',
      body('41', { sourceRef: 'doc:a', assertion: null, statement: 'Alpha pays within 41 days.' }),
    );
    const lost = candidate('t-claims', body('99'), { claimId: 'lost' });
    const done = await apply({ candidates: [won, lost], settlements: [settle('t-claims', [won])] });
    expect(done.outcomes.toSorted()).toEqual(['accepted', 'dropped']);
    const { rows } = await at.admin.query(
      'SELECT decision, claim_id, reason FROM knowledge.audit WHERE candidate_id = $1',
      [lost.candidateId],
    );
    expect(rows).toEqual([{ decision: 'dropped', claim_id: 'lost', reason: 'its claim did not win' }]);
  });

  it('that come late are governed by the stored settlement; until then they are missing', async () => {
    const late = candidate('t-late', body('17', { assertion: null, statement: 'Beta pays within 17 days.' }));
    const early = await apply({ settlements: [settle('t-late', [late])] });
    expect(early.settled).toMatchObject([{ taskId: 't-late', missing: [late.candidateId], outcomes: [] }]);
    const done = await apply({ candidates: [late] });
    expect(done.settled).toMatchObject([{ missing: [], outcomes: [{ outcome: 'accepted' }] }]);
  });

  it('of a failed task are held until a retry passes', async () => {
    const said = candidate('t-held', body('23', { assertion: null, statement: 'Gamma pays within 23 days.' }));
    const held = await apply({ candidates: [said], settlements: [settle('t-held', [], 'held')] });
    expect(held.outcomes).toEqual(['held']);
    expect(await statesOf('t-held')).toMatchObject([{ state: 'held', outcome: null }]);
    const passed = await apply({ settlements: [settle('t-held', [said])] });
    expect(passed.outcomes).toEqual(['accepted']);
    // A held command that was on its way all the time undoes nothing.
    expect((await apply({ settlements: [settle('t-held', [], 'held')] })).settled).toMatchObject([
      { outcomes: [{ outcome: 'accepted' }] },
    ]);
  });

  it('of an unvalidated task must be as sure as a model has to be', async () => {
    const sure = candidate(
      't-unjudged',
      body('5', { confidence: 0.95, assertion: null, statement: 'Delta pays within 5 days.' }),
    );
    const unsure = candidate(
      't-unjudged',
      body('6', { confidence: 0.8, assertion: null, statement: 'Delta pays within 6 days.' }),
    );
    const done = await apply({
      candidates: [sure, unsure],
      settlements: [settle('t-unjudged', [sure, unsure], 'unvalidated')],
    });
    expect(done.outcomes.toSorted()).toEqual(['accepted', 'rejected']);
    const { rows } = await at.admin.query<{ source_type: string }>(
      'SELECT source_type FROM knowledge.fact_versions WHERE candidate_id = $1',
      [sure.candidateId],
    );
    expect(rows).toEqual([{ source_type: 'model_inference' }]);
  });

  it('about one fact in one batch: the later value is current, history holds both', async () => {
    const about = (value: string) =>
      body(value, {
        assertion: { subject: 'Kyd', predicate: 'born in', value, unit: null, polarity: 'positive', modality: 'is' },
        statement: `Kyd was born in ${value}`,
      });
    const older = candidate('t-batch', about('London'), { saidAt: '2026-01-01T00:00:00.000Z' });
    const newer = candidate('t-batch', about('Leeds'), { saidAt: '2026-01-02T00:00:00.000Z' });
    const done = await apply({ candidates: [newer, older], settlements: [settle('t-batch', [older, newer])] });
    expect(done.changed).toMatchObject([{ change: 'accepted' }, { change: 'updated' }]);
    const knowledgeId = String(done.changed[0]?.['knowledgeId']);
    const history = await withTransaction(at.database, { role: 'cleanslate_gateway', tenantId }, (tx) =>
      findFactHistory(tx, tenantId, knowledgeId, LATEST),
    );
    const believed = history.filter((version) => version.revisionUntil === null);
    expect(believed.map((version) => [version.assertion?.value, version.validFrom, version.validUntil])).toEqual([
      ['London', null, '2026-01-02T00:00:00.000Z'],
      ['Leeds', '2026-01-02T00:00:00.000Z', null],
    ]);
    expect(history).toHaveLength(3);
  });

  it('with another number, date, negation or modality are no duplicates; a rephrasing with the same ones is', async () => {
    const say = (statement: string, value = '30') => body(value, { statement, assertion: { ...assertion, value } });
    const assertion = {
      subject: 'contract 9',
      predicate: 'term',
      value: '30',
      unit: 'days',
      polarity: 'positive',
      modality: 'is',
    } as const;
    const first = candidate('t-same', say('The term is 30 days.'));
    await apply({ candidates: [first], settlements: [settle('t-same', [first])] });
    const next = async (taskId: string, said: Candidate) => {
      const item = candidate(taskId, said);
      return (await apply({ candidates: [item], settlements: [settle(taskId, [item])] })).outcomes;
    };
    expect(await next('t-same-2', say('Payment is due after thirty (30) days.'))).toEqual(['duplicate']);
    expect(await next('t-same-3', say('The term is 60 days.', '60'))).toEqual(['updated']);
    expect(await next('t-same-4', say('The term is not 60 days.', '60'))).toEqual(['updated']);
    expect(await countRows('sightings')).toBe(1);
  });

  it('never displace what a person confirmed: a dispute is opened, once', async () => {
    const assertion = {
      subject: 'policy',
      predicate: 'max days',
      value: '90',
      unit: 'days',
      polarity: 'positive',
      modality: 'must',
    } as const;
    const { value, ...named } = assertion;
    const period = { value: '30', statement: 'At most 30 days.', validFrom: null, validUntil: null };
    const fact = { knowledgeId: 'policy-max', ...named, knowledgeType: 'rule' as const, tags: [], periods: [period] };
    const data = { sourceRef: 'policy:x', sourceType: 'human_confirmed' as const, facts: [fact] };
    await importFacts(at.database, { tenantId, requestId: 'policy', data });
    for (const taskId of ['t-dispute', 't-dispute-2']) {
      const said = candidate(
        taskId,
        body(value, { statement: 'At most 90 days.', assertion, validFrom: '2025-01-01T00:00:00.000Z' }),
      );
      const done = await apply({ candidates: [said], settlements: [settle(taskId, [said])] });
      expect(done.changed).toMatchObject([{ change: 'disputed', knowledgeId: 'policy-max', version: 1 }]);
    }
    const { rows } = await at.admin.query('SELECT incumbent_version, reason FROM knowledge.disputes');
    expect(rows).toEqual([{ incumbent_version: 1, reason: 'a person confirmed the incumbent' }]);
  });

  it('keep their parents, also when a part of them is overtaken', async () => {
    const said = candidate(
      't-derived',
      body('1', { knowledgeId: 'derived', assertion: null, statement: 'It follows.', derivedFrom: ['policy-max@1'] }),
    );
    await apply({ candidates: [said], settlements: [settle('t-derived', [said])] });
    const next = candidate(
      't-derived-2',
      body('1', {
        knowledgeId: 'derived',
        assertion: null,
        statement: 'It no longer follows.',
        validFrom: '2030-01-01T00:00:00.000Z',
      }),
    );
    await apply({ candidates: [next], settlements: [settle('t-derived-2', [next])] });
    const { rows } = await at.admin.query('SELECT downstream_version, upstream_id FROM knowledge.relations ORDER BY 1');
    expect(rows).toEqual([
      { downstream_version: 1, upstream_id: 'policy-max' },
      { downstream_version: 2, upstream_id: 'policy-max' },
    ]);
  });

  it('settled by two replicas at once take gapless revisions and leave one belief', async () => {
    const rounds = Array.from({ length: 8 }, (_, round) => {
      const said = candidate(
        `t-race-${round}`,
        body(String(100 + round), { knowledgeId: 'raced', sourceRef: 'doc:one' }),
        {
          saidAt: new Date(Date.UTC(2026, 0, 1 + round)).toISOString(),
        },
      );
      return apply({ candidates: [said], settlements: [settle(`t-race-${round}`, [said])] });
    });
    await Promise.all(rounds);
    const { rows } = await at.admin.query<{ gaps: number }>(
      'SELECT (max(revision) - count(*))::int AS gaps FROM knowledge.revisions',
    );
    expect(rows).toEqual([{ gaps: 0 }]);
  });

  it('leave a log from which the versions can be rebuilt', async () => {
    const { rows: log } = await at.admin.query<{
      kind: string;
      key: string;
      revision: number;
      body: Record<string, unknown>;
    }>(
      `SELECT kind, tenant_id || '/' || knowledge_id || '@' || version AS key, revision, body FROM knowledge.fact_log ORDER BY revision, ordinal`,
    );
    const rebuilt = new Map<string, unknown[]>();
    for (const { kind, key, revision, body: entry } of log) {
      const known = rebuilt.get(key);
      if (kind === 'asserted')
        rebuilt.set(key, [entry['content_hash'], entry['valid_from'], entry['valid_until'], revision, null]);
      else if (known !== undefined) known[4] = revision;
    }
    const { rows } = await at.admin.query<{
      key: string;
      content_hash: string;
      lower: Date | null;
      upper: Date | null;
      from: number;
      until: number | null;
    }>(
      `SELECT tenant_id || '/' || knowledge_id || '@' || version AS key, content_hash, lower(valid), upper(valid), lower(revisions) AS from, upper(revisions) AS until FROM knowledge.fact_versions`,
    );
    const actual = rows.map((row) => [
      row.key,
      [row.content_hash, row.lower?.toISOString() ?? null, row.upper?.toISOString() ?? null, row.from, row.until],
    ]);
    expect(Object.fromEntries(rebuilt)).toEqual(Object.fromEntries(actual));
    expect(rows.length).toBeGreaterThan(10);
  });
});
