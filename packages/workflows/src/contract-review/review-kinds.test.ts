import { describe, expect, test } from 'vitest';
import { checkReport } from './check-report.ts';
import { aFact, PIN } from './facts.fixture.ts';
import { generateReport } from './report.ts';
import { reviewContract } from './review.ts';

const SHA = 'c'.repeat(64);

/** One policy against one contract: the finding or null, and whether the checklist agrees with the report. */
function judgeText(text: string, key: string, value: string, unit: string | null = null) {
  const facts = [aFact({ id: 'policy', key, value, unit, statement: `The policy says ${value}.` })];
  const analysis = reviewContract({ text, facts });
  const report = generateReport(analysis, { document: { name: 'c.md', sha256: SHA, bytes: 9 }, pin: PIN });
  expect(checkReport({ text, facts, report, pin: PIN, sha256: SHA }).reasons).toEqual([]);
  expect(analysis.unused).toEqual([]);
  const item = analysis.findings[0] ?? null;
  return { problem: item?.problem ?? null, said: (item ?? analysis.compliant[0])?.explanation };
}

describe('what a clause decides without a number', () => {
  const law = 'This Agreement shall be governed by the laws of the State of New York.';
  test.each([
    ['governing_law', law, 'New York', null],
    ['governing_law', law, 'Delaware, New York', null],
    ['governing_law', law, 'Delaware; Ohio', 'not_accepted'],
    ['governing_law', law, 'York', 'not_accepted'],
    ['governing_law', '本合同适用中华人民共和国法律。', '中华人民共和国、中国', null],
    ['governing_law', '本合同适用新加坡法律。', '中国', 'not_accepted'],
    ['dispute_resolution', 'All disputes shall be settled by arbitration in Paris.', 'courts', 'not_accepted'],
    [
      'assignment',
      'Neither party may assign this Agreement without the consent of the other.',
      'consent_required, prohibited',
      null,
    ],
    [
      'renewal',
      'This Agreement shall automatically renew for successive one year terms.',
      'by_agreement',
      'not_accepted',
    ],
    [
      'ip_ownership',
      'Licensor retains all right, title and interest in and to the Software.',
      'Customer',
      'not_accepted',
    ],
  ])('%s: %s, accepted are %s', (kind, text, accepted, problem) => {
    expect(judgeText(text, `${kind} one_of`, accepted).problem).toBe(problem);
  });

  test('the explanation names both', () => {
    const { said } = judgeText(law, 'governing_law one_of', 'Ohio, Delaware');
    expect(said).toBe(
      'The governing law is New York; the clause decides otherwise than the policy accepts; the policy asks for Ohio or Delaware.',
    );
    expect(judgeText('发生争议的，提交北京仲裁委员会仲裁。', 'dispute_resolution one_of', 'courts').said).toBe(
      '争议解决方式为仲裁，与政策认可的不同；政策要求：诉讼。',
    );
  });
});

describe('how long something lasts, in months', () => {
  test.each([
    ['term', 'The term of this Agreement shall be three (3) years from the date hereof.', 'max_months', '36', null],
    [
      'term',
      'The term of this Agreement shall be five (5) years from the date hereof.',
      'max_months',
      '36',
      'above_maximum',
    ],
    [
      'warranty_period',
      'Vendor warrants that for a period of ninety (90) days after delivery the Software will perform.',
      'min_months',
      '12',
      'below_minimum',
    ],
    [
      'warranty_period',
      'Vendor warrants the goods against defects for 365 days from delivery.',
      'min_months',
      '12',
      null,
    ],
    [
      'confidentiality_period',
      'Recipient shall not at any time disclose the trade secrets of the Company.',
      'max_months',
      '60',
      'above_maximum',
    ],
    [
      'confidentiality_period',
      'Recipient shall not at any time disclose the trade secrets of the Company.',
      'min_months',
      '24',
      null,
    ],
    ['non_compete', '乙方在离职后三年内不得到与甲方有竞争关系的单位任职。', 'max_months', '24', 'above_maximum'],
    [
      'severance_pay',
      'Upon termination the Company shall pay severance equal to six (6) months of base salary.',
      'min_months',
      '6',
      null,
    ],
  ])('%s: %s (%s %s)', (kind, text, predicate, value, problem) => {
    expect(judgeText(text, `${kind} ${predicate}`, value, 'months').problem).toBe(problem);
  });

  test('notice is compared in days', () => {
    const text = 'Either party may terminate this Agreement at any time upon two months prior written notice.';
    expect(judgeText(text, 'termination_notice max_days', '30', 'days')).toMatchObject({ problem: 'above_maximum' });
  });
});

test('a kind that no policy asks for is not missing; one that a policy requires is', () => {
  const text = 'The parties agree on little.';
  const facts = [aFact({ id: 'law', key: 'governing_law required', value: 'true', statement: 'Name the law.' })];
  const report = generateReport(reviewContract({ text, facts }), {
    document: { name: 'c.md', sha256: SHA, bytes: 9 },
    pin: PIN,
  });
  expect(report.summary.missing).toEqual(['governing_law']);
  expect(report.clauses).toHaveLength(14);
});

test('a fact that comes twice is one rule', () => {
  const text = 'Either party may terminate this Agreement at any time upon sixty days prior written notice.';
  const fact = aFact({
    id: 'notice',
    key: 'termination_notice max_days',
    value: '30',
    unit: 'days',
    statement: '30 days.',
  });
  const { findings, compliant } = reviewContract({ text, facts: [fact, fact] });
  expect([findings.length, compliant.length]).toEqual([1, 0]);
});

describe('what was found by reading reviews against their contracts', () => {
  const feesOfMonth = "Supplier's liability shall not exceed the fees paid in the month before the claim.";

  test('the fees of a month are at most all fees, and no floor', () => {
    expect(judgeText(feesOfMonth, 'liability_cap max_multiple_of_fees', '1')).toMatchObject({ problem: null });
    expect(judgeText(feesOfMonth, 'liability_cap min_multiple_of_fees', '1')).toMatchObject({
      problem: 'not_comparable',
      said: expect.stringContaining('Only the fees of the period'),
    });
    const zh = judgeText('乙方的赔偿责任不超过上月服务费用总额。', 'liability_cap max_multiple_of_fees', '1');
    expect(zh.said).toContain('条款仅以其所述期间内的费用为限');
  });

  test('a multiple of pay is no multiple of fees', () => {
    const { said } = judgeText(
      'Upon termination without cause the Company shall pay the Executive severance equal to 2.99 times her base salary.',
      'severance_pay max_months',
      '12',
    );
    expect(said).toContain('2.99 times the pay');
  });

  test('two owners in one contract are pointed out', () => {
    const text = 'Vendor retains all title to the Software.\n\nCustomer owns all modifications that it makes.';
    expect(judgeText(text, 'ip_ownership one_of', 'Vendor').said).toContain(
      'Other passages of the contract say otherwise',
    );
    const same = 'Vendor retains all title to the Software.\n\nVendor owns all modifications to the Software.';
    expect(judgeText(same, 'ip_ownership one_of', 'Vendor').said).not.toContain('otherwise;');
  });
});
