import { readFileSync } from 'node:fs';
import { holdsAt } from '@cleanslate/domain';
import { describe, expect, test } from 'vitest';
import { aFact, EN_FACTS, PIN, ZH_FACTS } from './facts.fixture.ts';
import { generateReport } from './report.ts';
import { reviewContract } from './review.ts';
import { Analysis, ContractReport } from './schemas.ts';

function sample(name: string): string {
  return readFileSync(new URL(`../../../../infra/samples/${name}`, import.meta.url), 'utf8');
}

const at = (facts: typeof EN_FACTS) => facts.filter((fact) => holdsAt(fact, PIN));
const brief = ({ findings }: Analysis) =>
  findings.map(({ severity, clause, problem }) => `${severity} ${clause} ${problem}`);

describe('reviewContract', () => {
  const english = reviewContract({ text: sample('contract-en.md'), facts: at(EN_FACTS) });
  const chinese = reviewContract({ text: sample('contract-zh.md'), facts: at(ZH_FACTS) });

  test('the English sample deviates in three ways, gravest first', () => {
    expect(brief(english)).toEqual([
      'HIGH liability_cap above_maximum',
      'MEDIUM payment_term above_maximum',
      'LOW late_payment_rate above_maximum',
    ]);
    expect(english.compliant.map(({ policy }) => policy)).toEqual([
      'hl-late-rate-min@1',
      'hl-liability-cap-required@1',
    ]);
  });

  test('the Chinese sample deviates in three ways and is explained in Chinese', () => {
    expect(brief(chinese)).toEqual([
      'HIGH late_payment_rate above_maximum',
      'MEDIUM payment_term below_minimum',
      'LOW liability_cap below_minimum',
    ]);
    expect(chinese.findings.map(({ explanation }) => explanation)).toEqual([
      '逾期付款违约金比率为每日0.1%（×365，即每年36.5%，按单利折算），高于政策允许的数值；政策要求：不超过每年14.6%。',
      '付款期限为15个工作日（×1.4，即21天），低于政策要求的数值；政策要求：不低于30天。',
      '赔偿责任上限为合同价款的90%，低于政策要求的数值；政策要求：不低于合同价款的100%。',
    ]);
  });

  test('the explanation states what was found, what is wanted and the conversion', () => {
    expect(english.findings[2]?.explanation).toBe(
      'The late-payment rate is 1.25% per month, that is 15% per year (× 12, simple interest): above what the policy allows, which is at most 12% per year. The clause falls back on the highest lawful rate.',
    );
  });

  test('a missing clause is a finding without a quote', () => {
    const { findings } = reviewContract({ text: 'A contract about nothing in particular.', facts: at(EN_FACTS) });
    expect(findings.map(({ clause, problem, quote, span }) => [clause, problem, quote, span])).toEqual([
      ['liability_cap', 'missing', '', null],
      ['payment_term', 'missing', '', null],
      ['late_payment_rate', 'missing', '', null],
    ]);
  });

  test('analysis and report keep to their schemas', () => {
    for (const analysis of [english, chinese]) {
      expect(Analysis.parse(analysis)).toEqual(analysis);
      const document = { name: 'contract.md', sha256: 'a'.repeat(64), bytes: 1000 };
      const report = generateReport(analysis, { document, pin: PIN });
      expect(ContractReport.parse(report)).toEqual(report);
    }
  });

  const reportOn = (analysis: Analysis) =>
    generateReport(analysis, { document: { name: 'c.md', sha256: 'a'.repeat(64), bytes: 9 }, pin: PIN });

  test.each([
    ['en', EN_FACTS, 'payment_term max_days', '## Policies that could not be applied', '"maxi_days" is no rule'],
    ['zh', ZH_FACTS, 'payment_term min_days', '## 无法适用的政策', '“maxi_days”不是'],
  ] as const)('a typo in a policy is said in the report, not passed over (%s)', (name, facts, key, heading, why) => {
    const mistyped = at(facts).map((fact) => {
      const { assertion } = fact;
      if (assertion === null || assertion.predicate !== key.split(' ')[1]) return fact;
      return { ...fact, assertion: { ...assertion, predicate: 'maxi_days' } };
    });
    const report = reportOn(reviewContract({ text: sample(`contract-${name}.md`), facts: mistyped }));
    expect(report.summary.medium).toBe(0);
    expect(report.unapplied).toEqual([
      { policy: expect.stringContaining('payment-term'), why: expect.stringContaining(why) },
    ]);
    expect(report.markdown).toContain(`${heading}\n`);
    expect(report.markdown.replaceAll('\\', '')).toContain(why);
    expect(ContractReport.parse(report)).toEqual(report);
  });

  test('where every policy could be applied the report says nothing about it', () => {
    expect(reportOn(english).markdown).not.toContain('could not be applied');
  });

  test('a passage stands in the evidence only where something rests on it', () => {
    expect(english.clauses.some((clause) => clause.present && clause.supporting.length > 0)).toBe(true);
    const { evidence, findings, compliant, markdown } = reportOn(english);
    const cited = new Set([...findings, ...compliant].map(({ span }) => `${span?.start}-${span?.end}`));
    const passages = evidence.flatMap((item) =>
      item.type === 'document' ? [`${item.span.start}-${item.span.end}`] : [],
    );
    expect(new Set(passages)).toEqual(cited);
    expect(markdown).not.toContain('2354–2527');
  });

  test('passages with another value stand beside the one they differ from', () => {
    const text = 'Invoices are due within 30 days of receipt.\n\nInvoices are due within 60 days of receipt.\n';
    const { evidence, markdown } = reportOn(reviewContract({ text, facts: at(EN_FACTS) }));
    const cited = { start: 0, end: text.indexOf('\n') };
    expect(evidence).toContainEqual(expect.objectContaining({ type: 'document', beside: cited }));
    expect(markdown).toContain(`(another value than at 0–${cited.end})`);
  });

  test.each([
    ['must', 'is 45 days: above what the policy allows, which', '高于政策允许的数值；政策要求：', '合同应当写明'],
    ['should', 'is 45 days: above what the policy recommends, which', '高于政策建议的数值；政策建议：', '合同宜写明'],
    ['may', 'is 45 days: above what the policy permits, which', '高于政策许可的数值；政策许可：', '合同可以写明'],
  ] as const)(
    'a policy that says "%s" is told as no more than that',
    (modality, english45, chinese45, chineseRequired) => {
      const facts = ['payment_term max_days', 'liability_cap required'].map((key) =>
        aFact({
          id: key.replace(' ', '-'),
          key,
          value: key.endsWith('days') ? '30' : 'true',
          modality,
          statement: 'x',
        }),
      );
      const say = (text: string) => reviewContract({ text, facts }).findings.map(({ explanation }) => explanation);
      expect(say('Invoices are due within 45 days of receipt.')).toContainEqual(expect.stringContaining(english45));
      const chineseSaid = say('甲方应在收到发票后45天内付款。').join('\n');
      expect(chineseSaid).toContain(chinese45);
      expect(chineseSaid).toContain(`：${chineseRequired}赔偿责任上限`);
    },
  );

  test('the Chinese report has no English words of ours', () => {
    const { markdown } = reportOn(chinese);
    expect(markdown).toContain(`知识版本 ${PIN.revision}`);
    expect(markdown).not.toMatch(/revision|bytes|offsets|confidence|Policy|Document/);
  });

  test('text of the contract cannot become Markdown of the report', () => {
    const text =
      '# [Payment](http://x)\n\nInvoices `are` *due* within 90 days of receipt of the <b>invoice</b> | [x](y).';
    const analysis = reviewContract({ text, facts: at(EN_FACTS) });
    const { markdown } = generateReport(analysis, {
      document: { name: 'a](b.md', sha256: 'a'.repeat(64), bytes: 9 },
      pin: PIN,
    });
    expect(markdown).not.toMatch(/(?<!\\)\]\(/);
    expect(markdown).toContain('\\*due\\*');
    expect(markdown).not.toContain('<b>');
  });
});
