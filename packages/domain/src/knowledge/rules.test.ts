import type { Candidate } from '@cleanslate/contracts';
import { describe, expect, it } from 'vitest';
import { arbitrate, arbitrationScore, type Contender } from './arbitrate.ts';
import { checkImport } from './decide-import.ts';
import { placePeriod } from './place-period.ts';
import { DEFAULT_SCREEN, screenCandidate } from './screen-candidate.ts';
import { mergeSettlement, routeCandidate, type StoredSettlement } from './settle-claim.ts';
import { factKeyOf, signatureOf } from './signature.ts';
import { combineLineage } from './trust.ts';

const { NEGATIVE_INFINITY: ALWAYS, POSITIVE_INFINITY: FOREVER } = Number;

describe('signature', () => {
  it.each([
    ['30 days', 'Payment is due within 30 days.', 'Payment is due within 60 days.'],
    ['unit', 'Payment is due within 30 days.', 'Payment is due within 30 months.'],
    ['negation', 'The lease is renewable.', 'The lease is not renewable.'],
    ['prefix negation', 'The lease is renewable.', 'The lease is non-renewable.'],
    ['modality', 'The buyer may inspect the goods.', 'The buyer must inspect the goods.'],
    ['date', 'It ends on 2024-01-31.', 'It ends on 2024-01-30.'],
    ['percentage', 'Interest is 5% a year.', 'Interest is 0.5% a year.'],
    ['number', '付款期限为30日。', '付款期限为60日。'],
    ['万 and 亿', '赔偿上限为100万元。', '赔偿上限为100亿元。'],
    ['有权 and 必须', '买方有权检验货物。', '买方必须检验货物。'],
    ['不得', '承租人可以转租。', '承租人不得转租。'],
    ['日期', '本合同自2024年1月1日起生效。', '本合同自2024年1月2日起生效。'],
    ['word', 'The seller pays the freight.', 'The buyer pays the freight.'],
    ['role', 'The seller pays the buyer.', 'The buyer pays the seller.'],
    ['direction', 'The fee is payable by the buyer.', 'The fee is payable to the buyer.'],
    [
      'order of numbers',
      'The term is 30 days for A and 60 days for B.',
      'The term is 60 days for A and 30 days for B.',
    ],
    ['tense', 'He is president.', 'He was president.'],
    ['conjunction', 'Rent and tax are due.', 'Rent or tax are due.'],
    ['甲方、乙方', '甲方向乙方支付违约金。', '乙方向甲方支付违约金。'],
    ['以上', '罚款一万元以上。', '罚款一万元以下。'],
  ])('another %s is another statement', (_name, a, b) => {
    expect(signatureOf(a, null)).not.toBe(signatureOf(b, null));
  });

  it.each([
    ['digits and words', 'Payment is due within thirty (30) days.', 'Payment is due within 30 days.'],
    ['width', '付款期限为３０日。', '付款期限为30日。'],
    ['order of function words', 'The term of the lease is 30 days', 'The lease term is 30 days.'],
    ['a leading phrase', 'On June 26, 1980, the term began.', 'The term began on 26 June 1980.'],
    [
      'a leading condition',
      'If the buyer defaults, the seller may end it.',
      'The seller may end it if the buyer defaults.',
    ],
    ['contractions', "The lease isn't renewable.", 'The lease is non-renewable.'],
    ['spellings of a duty', 'The buyer shall pay.', 'The buyer is required to pay.'],
    ['blanks before punctuation', 'It ended on May 3 , 2010 .', 'It ended on May 3, 2010.'],
    ['应当、必须', '买方应当在收到发票后30日内付款', '买方必须在收到发票后三十天内付款。'],
    ['为、是', '付款期限为三十日', '付款期限是30天。'],
  ])('%s make no difference', (_name, a, b) => {
    expect(signatureOf(a, null)).toBe(signatureOf(b, null));
  });

  const assertion = { subject: 'Contract 7', predicate: 'Payment term', value: '30.0', unit: 'day' } as const;
  const rest = { polarity: 'positive', modality: 'is' } as const;

  it('with an assertion compares its value exactly, and still the wording’s numbers', () => {
    const of = (value: string, statement = 'x', unit: string | null = 'days') =>
      signatureOf(statement, { ...assertion, ...rest, value, unit });
    expect(of('30.0', 'x', 'day')).toBe(of('30'));
    expect(of('000001')).not.toBe(of('1'));
    expect(of('30')).not.toBe(of('31'));
    expect(of('30', 'in 30 days')).not.toBe(of('30', 'in 60 days'));
    expect(of('30', 'x', 'months')).not.toBe(of('30'));
  });

  it('the key is the same however the names are spelled', () => {
    expect(factKeyOf({ subject: ' contract  7', predicate: 'PAYMENT TERM' })).toBe(factKeyOf(assertion));
    expect(factKeyOf({ subject: 'a', predicate: 'bc' })).not.toBe(factKeyOf({ subject: 'ab', predicate: 'c' }));
  });
});

describe('placing a statement without dates', () => {
  const version = (from: number, until: number, sourceTime: number) => ({ valid: { from, until }, sourceTime });
  const open = { from: null, until: null };

  it('the first holds always, a later one from when it was said', () => {
    expect(placePeriod([], open, 50)).toEqual({ from: ALWAYS, until: FOREVER });
    expect(placePeriod([version(ALWAYS, FOREVER, 10)], open, 50)).toEqual({ from: 50, until: FOREVER });
  });
  it('history that arrives late takes its place in the past', () => {
    expect(placePeriod([version(60, FOREVER, 60)], { from: 30, until: null }, 70)).toEqual({ from: 30, until: 60 });
    expect(placePeriod([version(ALWAYS, FOREVER, 100)], open, 50)).toEqual({ from: 50, until: 100 });
  });
  it('an end that is given is kept', () => {
    expect(placePeriod([version(60, FOREVER, 60)], { from: 30, until: 90 }, 70)).toEqual({ from: 30, until: 90 });
    expect(placePeriod([version(ALWAYS, FOREVER, 10)], { from: null, until: 40 }, 50)).toBeUndefined();
  });
});

describe('arbitration', () => {
  const HOUR = 3_600_000;
  const side = (more: Partial<Contender> = {}): Contender => ({
    trust: 'internal_document',
    sourceRef: 'a',
    layer: 'core',
    weight: 0.9,
    sourceTime: 0,
    validatorScore: null,
    ...more,
  });

  it('score is 0.5 weight, 0.3 freshness, 0.2 validator, absent counting as 1', () => {
    expect(arbitrationScore(side({ weight: 1 }), 0)).toBeCloseTo(1);
    expect(arbitrationScore(side({ layer: 'working', weight: 0 }), 4 * HOUR)).toBeCloseTo(0.15 + 0.2);
    expect(arbitrationScore(side({ weight: 0, validatorScore: 0 }), 0)).toBeCloseTo(0.3);
  });
  it('a person outranks all; nobody displaces a person', () => {
    expect(arbitrate(side(), side({ trust: 'human_confirmed', sourceRef: 'b' }), false, 0).ruling).toBe('update');
    expect(arbitrate(side({ trust: 'human_confirmed' }), side({ sourceRef: 'b' }), true, 0).ruling).toBe('dispute');
    expect(arbitrate(side({ trust: 'human_confirmed' }), side(), true, 0).ruling).toBe('dispute');
  });
  it('the same source updates itself, a date makes an update, else a lead of 0.15 decides', () => {
    expect(arbitrate(side(), side(), false, 0).ruling).toBe('update');
    const other = { sourceRef: 'b' };
    expect(arbitrate(side(), side(other), true, 0).ruling).toBe('update');
    expect(arbitrate(side(), side(other), false, 0).ruling).toBe('dispute');
    expect(arbitrate(side({ weight: 0.5 }), side({ ...other, weight: 0.9 }), false, 0).ruling).toBe('update');
    expect(arbitrate(side(), side({ ...other, weight: 0.5 }), false, 0).ruling).toBe('reject');
  });
  it('trust is the least over a lineage', () => {
    const web = combineLineage('external_source', 'web:x', []);
    expect(combineLineage('internal_document', 'doc:y', [web])).toEqual({ roots: ['web:x'], trust: 'external_source' });
  });
});

describe('screening', () => {
  const candidate: Candidate = {
    statement: 'The term is 30 days.',
    assertion: null,
    knowledgeType: 'clause',
    sourceType: 'internal_document',
    sourceRef: 'doc:1',
    confidence: 0.8,
    importance: 0.5,
    derivedFrom: [],
    tags: [],
  };
  const OF_TERM = {
    subject: 'term',
    predicate: 'days',
    value: '30',
    unit: 'days',
    polarity: 'positive' as const,
    modality: 'is' as const,
  };
  const passes = (more: Partial<Candidate>, validated = true) =>
    screenCandidate({ ...candidate, ...more }, validated, DEFAULT_SCREEN).passed;

  it.each<[string, Partial<Candidate>, boolean, boolean]>([
    ['a document at 0.8', {}, true, true],
    ['a document at 0.7', { confidence: 0.7 }, true, false],
    ['the same of a task that nobody judged', {}, false, false],
    ['a model at 0.8', { sourceType: 'model_inference' }, true, false],
    ['a model at 0.9', { sourceType: 'model_inference', confidence: 0.9 }, true, true],
    ['little importance', { importance: 0.2 }, true, false],
    ['a person, said by an executor', { sourceType: 'human_confirmed', confidence: 1 }, true, false],
    ['a secret', { sensitivity: 'secret' }, true, false],
    ['reasoning', { statement: '<think>the term may be 30</think>' }, true, false],
    ['a refusal', { statement: 'As an AI language model, I do not know.' }, true, false],
    ['small talk', { statement: '谢谢！' }, true, false],
    ['blanks', { statement: ' \u200b\n' }, true, false],
    ['a blank subject', { assertion: { ...OF_TERM, subject: '\u00a0' } }, true, false],
    ['a subject', { assertion: OF_TERM }, true, true],
    [
      'a range without a moment',
      { validFrom: '2025-01-01T00:00:00.000Z', validUntil: '2024-01-01T00:00:00.000Z' },
      true,
      false,
    ],
  ])('%s', (_name, more, validated, passed) => {
    expect(passes(more, validated)).toBe(passed);
  });
});

describe('settlements', () => {
  const claim = { stepId: 'a', attempt: 1, claimId: 'x' };
  const settlement = (verdict: StoredSettlement['verdict']): StoredSettlement => ({
    verdict,
    validatorScore: 1,
    claims: [claim],
  });

  it('route each candidate by its claim', () => {
    expect(routeCandidate(undefined, claim)).toBe('wait');
    expect(routeCandidate(settlement('held'), claim)).toBe('hold');
    expect(routeCandidate(settlement('passed'), claim)).toBe('release');
    expect(routeCandidate(settlement('unvalidated'), claim)).toBe('release');
    expect(routeCandidate(settlement('passed'), { ...claim, attempt: 2 })).toBe('drop');
    expect(routeCandidate(settlement('passed'), { ...claim, claimId: 'y' })).toBe('drop');
  });
  it('a completed task stays completed; a held one may still pass', () => {
    const [held, passed] = [settlement('held'), settlement('passed')];
    expect(mergeSettlement(held, passed)).toBe(passed);
    expect(mergeSettlement(passed, held)).toBe(passed);
    expect(mergeSettlement(undefined, held)).toBe(held);
  });
});

describe('import', () => {
  const at = (year: number) => `${year}-01-01T00:00:00.000Z`;
  const fact = (knowledgeId: string, ...periods: [string | null, string | null][]) => ({
    knowledgeId,
    subject: 's',
    predicate: 'p',
    unit: null,
    tags: [],
    polarity: 'positive' as const,
    modality: 'is' as const,
    knowledgeType: 'rule' as const,
    periods: periods.map(([validFrom, validUntil]) => ({ value: '1', statement: 'x', validFrom, validUntil })),
  });

  const worded = (statement: string) => ({
    ...fact('a'),
    periods: [{ value: '1', statement, validFrom: null, validUntil: null }],
  });

  it.each([
    ['overlap', [fact('a', [at(2020), at(2022)], [at(2021), null])], 'FACT_OVERLAP', 'facts.0.periods.1'],
    ['no moment', [fact('a', [at(2022), at(2022)])], 'INVALID_INPUT', 'facts.0.periods.0'],
    ['a blank statement', [worded('\u200b ')], 'INVALID_INPUT', 'facts.0.periods.0.statement'],
    ['a blank subject', [{ ...worded('x'), subject: ' ' }], 'INVALID_INPUT', 'facts.0.subject'],
    ['an id twice', [fact('a', [null, null]), fact('a', [null, null])], 'INVALID_INPUT', 'facts.1.knowledgeId'],
  ])('names the field of %s', (_name, facts, code, field) => {
    expect(() => checkImport(facts)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(field) }),
    );
  });
  it('periods that touch are fine', () => {
    expect(() => checkImport([fact('a', [null, at(2021)], [at(2021), null])])).not.toThrow();
  });
});
