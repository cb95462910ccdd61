import { expect, test } from 'vitest';
import { aFact } from './facts.fixture.ts';
import { reviewContract } from './review.ts';

const facts = [
  aFact({ id: 'term', key: 'payment_term max_days', value: '30', unit: 'days', statement: 'Within 30 days.' }),
  aFact({ id: 'late', key: 'late_payment_rate max_percent_per_year', value: '12', statement: 'At most 12% a year.' }),
];

// What stands in another document is there, and nobody can compare it: one rule for every kind.
test.each([
  ['payment_term', 'Fees shall be payable in accordance with Exhibit B.'],
  ['payment_term', 'Invoices shall be paid as set forth in Schedule C.'],
  ['payment_term', '本合同的付款方式详见附件二。'],
  ['late_payment_rate', 'Overdue amounts bear interest at the default rate specified in the Loan Agreement.'],
  ['late_payment_rate', '甲方逾期付款的，违约金标准按附件三的约定执行。'],
] as const)('%s by reference is not comparable: %s', (kind, text) => {
  const { findings } = reviewContract({ text, facts });
  expect(findings.find(({ clause }) => clause === kind)).toMatchObject({
    problem: 'not_comparable',
    found: { basis: 'reference', value: null },
  });
});

test.each([
  ['payment_term', 'Customer shall pay the fees set forth in Exhibit A.'],
  ['late_payment_rate', '乙方逾期交货的，每逾期一日按附件三的标准支付违约金。'],
  ['late_payment_rate', 'For each day of delay in delivery Supplier shall pay the liquidated damages in Exhibit D.'],
] as const)('%s is missing, though something else is by reference: %s', (kind, text) => {
  const { findings } = reviewContract({ text, facts });
  expect(findings.find(({ clause }) => clause === kind)).toMatchObject({ problem: 'missing' });
});
