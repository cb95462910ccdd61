import { createHash } from 'node:crypto';
import type { FactImport, FactView } from '@cleanslate/contracts';
import type { Executor } from '@cleanslate/runtime';
import { assertRemembersNothing, fakeStepContext } from '@cleanslate/runtime/testing';
import { getLastRevision, withTransaction } from '@cleanslate/store';
import { Analysis, ContractReport, generateReport, POLICY_SUBJECTS, reviewContract } from '@cleanslate/workflows';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { retractFact } from '../../services/knowledge-maintainer/src/handlers/retract-fact.ts';
import { retrieveExecutor } from '../../services/retriever/src/handlers/contract-review.ts';
import { validateExecutor } from '../../services/validator/src/handlers/contract-review.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

// The two agents of a contract review that read the knowledge base, on the real one, without the platform around them.
const TEXT = 'Invoices are due within sixty (60) days of receipt.';
const sha256 = createHash('sha256').update(TEXT).digest('hex');
const document = { name: 'c.md', mediaType: 'text/markdown', sha256, bytes: TEXT.length };
const DATES = ['2024-06-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'] as const;

let at: KnowledgeDatabase;
let revision = 0;

function fact(knowledgeId: string, predicate: string, periods: FactImport['periods']): FactImport {
  return {
    knowledgeId,
    subject: 'contract.payment_term',
    predicate,
    unit: 'days',
    tags: [],
    periods,
    polarity: 'positive',
    modality: 'must',
    knowledgeType: 'rule',
  };
}

async function importOf(tenantId: string, requestId: string, facts: FactImport[]): Promise<void> {
  const data = { sourceRef: 'policy:test', sourceType: 'human_confirmed' as const, facts };
  await importFacts(at.database, { tenantId, requestId, data });
}

beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
  const period = (value: string, validFrom: string | null, validUntil: string | null) => ({
    value,
    statement: `Within ${value} days.`,
    validFrom,
    validUntil,
  });
  const year = '2025-01-01T00:00:00.000Z';
  await importOf('acme', 'misprint', [fact('max', 'max_days', [period('300', year, null)])]);
  await importOf('acme', 'right', [fact('max', 'max_days', [period('45', null, year), period('30', year, null)])]);
  await importOf('acme', 'gone', [fact('gone', 'min_days', [period('90', null, null)])]);
  await importOf('globex', 'other', [fact('max', 'max_days', [period('7', null, null)])]);
  const reason = 'a mistake';
  await retractFact(at.database, { tenantId: 'acme', requestId: 'retract', data: { knowledgeId: 'gone', reason } });
  revision = await withTransaction(at.database, { role: 'cleanslate_retriever' }, getLastRevision);
});
afterAll(() => at[Symbol.asyncDispose]());

const context = (tenantId: string) => fakeStepContext({ tenantId, documents: { read: async () => TEXT } });
const input = (validAt: string, more = {}) => ({
  subjects: [POLICY_SUBJECTS.payment_term],
  pin: { validAt, revision },
  ...more,
});

async function retrieve(validAt: string, more = {}, tenantId = 'acme'): Promise<FactView[]> {
  const { facts } = (await retrieveExecutor(at.database).execute(context(tenantId), input(validAt, more))) as {
    facts: FactView[];
  };
  return facts;
}

const values = (facts: readonly FactView[]) => facts.map(({ assertion }) => assertion?.value).sort();

describe('the retriever', () => {
  test.each([
    ['off', ['30', '300', '45', '90']],
    ['expiry', ['30', '300', '90']],
    ['versions', ['30']],
    ['full', ['30']],
  ] as const)('at level %s, reading every version, passes on %j', async (sanitize, expected) => {
    expect(new Set(values(await retrieve(DATES[1], { reads: 'all', sanitize })))).toEqual(new Set(expected));
  });

  test('reads at the pin, fully cleaned, unless told otherwise', async () => {
    expect(values(await retrieve(DATES[0]))).toEqual(['45']);
    expect(values(await retrieve(DATES[1]))).toEqual(['30']);
    expect(values(await retrieve(DATES[1], {}, 'globex'))).toEqual(['7']);
    expect(values(await retrieve(DATES[1], { reads: 'all', sanitize: 'off' }, 'globex'))).toEqual(['7']);
  });
});

describe('two commands in both orders give the same', () => {
  const pair = async (executor: Executor, inputs: readonly [unknown, unknown]) => {
    for (const tenant of ['acme', 'globex'])
      await expect(assertRemembersNothing(executor, inputs, () => context(tenant))).resolves.toBeUndefined();
  };

  test('of the retriever', async () => {
    await pair(retrieveExecutor(at.database), [input(DATES[0]), input(DATES[1], { reads: 'all', sanitize: 'expiry' })]);
  });

  test('of the validator', async () => {
    const judged = async (validAt: string) => {
      const pin = { validAt, revision };
      const analysis = reviewContract({ text: TEXT, facts: await retrieve(validAt) });
      const { mediaType: _mediaType, ...subject } = document;
      return { document, pin, report: generateReport(analysis, { document: subject, pin }) };
    };
    const inputs = [await judged(DATES[0]), await judged(DATES[1])] as const;
    await pair(validateExecutor(at.database), inputs);
    for (const each of inputs)
      expect(await validateExecutor(at.database).execute(context('acme'), each)).toMatchObject({ decision: 'pass' });
    // Another tenant's policies are none of its own: what it is told to believe is not there.
    expect(await validateExecutor(at.database).execute(context('globex'), inputs[1])).toMatchObject({
      decision: 'rework',
    });
  });
});

test('more policies about one subject than a page holds are all read, compared and validated; what nobody confirmed fills up no more than a page', async () => {
  const rule = (index: number) =>
    fact(`many-${String(index).padStart(3, '0')}`, 'max_days', [
      { value: `${index + 1}`, statement: `Within ${index + 1} days.`, validFrom: null, validUntil: null },
    ]);
  await importOf(
    'initech',
    'many',
    Array.from({ length: 450 }, (_, index) => rule(index)),
  );
  const facts = Array.from({ length: 20 }, (_, index) => ({ ...rule(index), knowledgeId: `guess-${index}` }));
  const data = { sourceRef: 'web', sourceType: 'external_source' as const, facts };
  await importFacts(at.database, { tenantId: 'initech', requestId: 'guesses', data });
  const pin = {
    validAt: DATES[1],
    revision: await withTransaction(at.database, { role: 'cleanslate_retriever' }, getLastRevision),
  };
  const found = await retrieve(pin.validAt, { pin }, 'initech');
  expect(found.map(({ knowledgeId }) => knowledgeId)).toEqual(
    Array.from({ length: 450 }, (_, index) => rule(index).knowledgeId),
  );
  const analysis = Analysis.parse(reviewContract({ text: TEXT, facts: found }));
  // Sixty days: the rules for up to 59 days are broken.
  expect([analysis.findings.length, analysis.compliant.length]).toEqual([59, 391]);
  const { mediaType: _mediaType, ...subject } = document;
  const report = ContractReport.parse(generateReport(analysis, { document: subject, pin }));
  const verdict = await validateExecutor(at.database).execute(context('initech'), { document, pin, report });
  expect(verdict).toMatchObject({ decision: 'pass', reasons: [] });
});
