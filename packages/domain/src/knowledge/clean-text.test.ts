import type { Candidate, FactImport } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { DEFAULT_SENSITIVE } from '../sensitive/index.ts';
import { cleanCandidate } from './clean-text.ts';
import { checkImport } from './decide-import.ts';
import { toImportedBody } from './fact-body.ts';
import { DEFAULT_SCREEN, screenCandidate } from './screen-candidate.ts';

const CANDIDATE: Candidate = {
  statement: '供应商联系人张三，电话13812345678，年费 13812345678 元',
  assertion: {
    subject: 'supplier',
    predicate: 'contact',
    value: '13812345678',
    unit: null,
    polarity: 'positive',
    modality: 'is',
  },
  knowledgeType: 'metadata',
  sourceType: 'internal_document',
  sourceRef: 'doc:1',
  confidence: 0.95,
  importance: 0.9,
  derivedFrom: [],
  tags: ['a@b.example'],
};
const SOURCE = { sourceRef: 'policies', sourceType: 'human_confirmed', messageId: 'm', saidAt: 0 } as const;

test('identifiers of people are masked wherever they stand, quantities stay, and the candidate says that it is personal', () => {
  const cleaned = cleanCandidate(CANDIDATE, DEFAULT_SENSITIVE);
  expect(cleaned.statement).toBe('供应商联系人张三，电话[phone]，年费 13812345678 元');
  expect(cleaned.assertion?.value).toBe('[phone]');
  expect(cleaned.tags).toEqual(['[email]']);
  expect(cleaned.sensitivity).toBe('personal');
  expect(screenCandidate(cleaned, true, DEFAULT_SCREEN)).toEqual({ passed: true });
  const { assertion } = CANDIDATE;
  const amount = { ...CANDIDATE, assertion: assertion && { ...assertion, unit: 'CNY' } };
  expect(cleanCandidate(amount, DEFAULT_SENSITIVE).assertion?.value).toBe('13812345678');
});

test('a key is taken out before anything is kept, and its candidate is refused', () => {
  const cleaned = cleanCandidate({ ...CANDIDATE, statement: 'log in with password: hunter22x' }, DEFAULT_SENSITIVE);
  expect(JSON.stringify(cleaned)).not.toContain('hunter22x');
  expect(screenCandidate(cleaned, true, DEFAULT_SCREEN)).toEqual({ passed: false, reason: 'secret' });
});

test('nothing to mask: nothing changes', () => {
  const plain = { ...CANDIDATE, statement: 'payment within 30 days', assertion: null, tags: ['x'] };
  expect(cleanCandidate(plain, DEFAULT_SENSITIVE)).toEqual(plain);
});

test('what people import is masked too, and a key is refused with the field that holds it', () => {
  const period = { value: 'yes', statement: 'ask li@example.com', validFrom: null, validUntil: null };
  const fact: FactImport = {
    knowledgeId: 'k',
    subject: 's',
    predicate: 'p',
    unit: null,
    polarity: 'positive',
    modality: 'is',
    knowledgeType: 'rule',
    tags: [],
    periods: [period],
  };
  expect(toImportedBody(fact, period, SOURCE)).toMatchObject({ statement: 'ask [email]', sensitivity: 'personal' });
  const held = { ...period, statement: 'the api key is 9f8e7d6c5b4a' };
  expect(() => checkImport([{ ...fact, periods: [period, { ...held, validFrom: '2030-01-01T00:00:00Z' }] }])).toThrow(
    /facts\.0\.periods\.1 of "k" holds a credential: take it out/,
  );
});
