import { holdsAt } from '@cleanslate/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkReport } from './check-report.ts';
import { extractClauses } from './extract-clauses.ts';
import { aFact, EN_FACTS, PIN, ZH_FACTS } from './facts.fixture.ts';
import { generateReport } from './report.ts';
import { reviewContract } from './review.ts';

/** Clauses, fragments of clauses, furniture and noise; any sequence of them is a contract. */
const piece = fc.constantFrom(
  'Invoices are due within thirty (30) days of receipt.',
  'Invoices are due within thirty (60) days of receipt.',
  'Late payments bear interest at 1 1/2% per month.',
  'Late payments bear interest at the prime rate plus 2%.',
  "Supplier's total liability shall not exceed ",
  'two (2) times the fees paid.',
  'USD 1.5 million.',
  '甲方应在收到发票后【15】个工作日内付款。',
  '甲方逾期付款的，每逾期一日，按万分之五支付违约金；',
  '乙方的赔偿总额不超过合同总额的２０％。',
  '任何一方均不对间接损失承担责任。',
  '\n\n<PAGE> 7\n\n',
  '\n',
  '# Fees\n',
  'within ____ days',
  '**30** days',
  '😀',
  '\ufeff',
  '(((',
  ' shall pay ',
  'net 45',
  '\u3000',
);
const contract = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(' '));
const facts = [
  ...EN_FACTS,
  ...ZH_FACTS,
  aFact({ id: 'typo', key: 'payment_term maxi_days', value: '30', statement: 'A rule.' }),
  aFact({ id: 'no-unit', key: 'payment_term max_days', value: '10', modality: 'may', statement: 'A rule.' }),
];

describe('whatever the contract', () => {
  test('every quote stands at its span', () => {
    fc.assert(
      fc.property(contract, (text) => {
        for (const clause of extractClauses(text)) {
          if (!clause.present) continue;
          for (const { quote, span } of [clause, ...clause.supporting])
            expect(text.slice(span.start, span.end)).toBe(quote);
        }
      }),
    );
  });

  test('the report that the rules make passes the checks', () => {
    fc.assert(
      fc.property(contract, (text) => {
        const analysis = reviewContract({ text, facts: facts.filter((fact) => holdsAt(fact, PIN)) });
        const document = { name: 'contract.md', sha256: 'a'.repeat(64), bytes: 1 };
        const verdict = checkReport({
          text,
          facts,
          report: generateReport(analysis, { document, pin: PIN }),
          pin: PIN,
        });
        expect(verdict.reasons).toEqual([]);
      }),
    );
  });
});
