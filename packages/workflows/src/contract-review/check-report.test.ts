import { readFileSync } from 'node:fs';
import { holdsAt } from '@cleanslate/domain';
import { describe, expect, test } from 'vitest';
import { CHECKLIST, checkReport } from './check-report.ts';
import { aFact, EN_FACTS, PIN, ZH_FACTS } from './facts.fixture.ts';
import { renderMarkdown } from './render-markdown.ts';
import { generateReport } from './report.ts';
import { reviewContract } from './review.ts';
import { ContractReport } from './schemas.ts';

const SHA = 'a'.repeat(64);

function setUp(name: 'en' | 'zh') {
  const text = readFileSync(new URL(`../../../../infra/samples/contract-${name}.md`, import.meta.url), 'utf8');
  const facts = name === 'en' ? EN_FACTS : ZH_FACTS;
  const analysis = reviewContract({ text, facts: facts.filter((fact) => holdsAt(fact, PIN)) });
  const report = generateReport(analysis, { document: { name: 'contract.md', sha256: SHA, bytes: 100 }, pin: PIN });
  return { text, facts, report, pin: PIN, sha256: SHA };
}

type Draft = {
  -readonly [K in keyof ContractReport]: ContractReport[K] extends readonly (infer T)[]
    ? { -readonly [P in keyof T]: T[P] }[]
    : ContractReport[K];
};

/**
 * The report with a fault planted, its Markdown rendered from the faulty fields so that only the fault can be caught.
 */
function plant(name: 'en' | 'zh', fault: (draft: Draft) => void) {
  const input = setUp(name);
  const draft: Draft = JSON.parse(JSON.stringify(input.report));
  fault(draft);
  const markdown = renderMarkdown(ContractReport.parse(draft));
  const verdict = checkReport({ ...input, report: { ...draft, markdown } });
  return { verdict, codes: verdict.reasons.map(({ code }) => code), first: verdict.reasons[0] };
}

function at<T>(items: T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  return item;
}

describe('checkReport', () => {
  test.each(['en', 'zh'] as const)('passes the report that the rules make (%s)', (name) => {
    const verdict = checkReport(setUp(name));
    expect(verdict.reasons).toEqual([]);
    expect(verdict).toMatchObject({ decision: 'pass', score: 1 });
  });

  test('catches a quote that the document does not say', () => {
    const { verdict, first } = plant('en', ({ findings }) => {
      at(findings, 1).quote = at(findings, 1).quote.replace('forty-five (45)', 'ninety (90)');
    });
    expect(verdict.decision).toBe('rework');
    expect(first).toMatchObject({ code: 'QUOTE_NOT_IN_DOCUMENT', path: 'findings.1.quote' });
  });

  test("catches the policy's figure said of the contract", () => {
    const { verdict, codes } = plant('en', ({ findings }) => {
      const finding = at(
        findings,
        findings.findIndex(({ clause, problem }) => clause === 'payment_term' && problem === 'above_maximum'),
      );
      const swapped = finding.explanation.replace('45', '##').replace('30', '45').replace('##', '30');
      expect(swapped).not.toBe(finding.explanation);
      finding.explanation = swapped;
    });
    expect(verdict.decision).toBe('rework');
    expect(codes).toContain('FIGURE_IN_OTHER_ROLE');
    expect(codes).not.toContain('FIGURE_NOT_IN_EVIDENCE');
  });

  test('catches a clause listed otherwise than the document has it', () => {
    const { codes } = plant('en', ({ clauses }) => {
      const index = clauses.findIndex(({ present }) => present);
      clauses[index] = { kind: at(clauses, index).kind, present: false, confidence: 0.8 };
    });
    expect(codes).toContain('CLAUSE_DIFFERS');
  });

  test('every question of the checklist can prove a report wrong', () => {
    expect(CHECKLIST.map(({ check }) => check)).toEqual([
      'subject',
      'quotes',
      'citations',
      'judgements',
      'coverage',
      'clauses',
      'unapplied',
      'figures',
      'dates',
      'force',
      'model',
      'markdown',
    ]);
  });

  test('catches a quote at the wrong offset and says the right one', () => {
    const right = at([...setUp('en').report.findings], 1).span;
    const { first } = plant('en', ({ findings }) => {
      const { span } = at(findings, 1);
      if (span !== null) at(findings, 1).span = { start: span.start + 1, end: span.end + 1 };
    });
    expect(first).toMatchObject({ code: 'QUOTE_AT_OTHER_OFFSET' });
    expect(first?.remedy).toContain(`start: ${right?.start}`);
  });

  test.each([
    ['en', 'allows', 'requires', 'FORCE_DIFFERS'],
    ['en', 'is 45 days', 'is not 45 days', 'POLARITY_DIFFERS'],
    ['zh', '允许', '必须', 'FORCE_DIFFERS'],
  ] as const)('catches words of another force (%s: %s → %s)', (language, right, wrong, code) => {
    const { codes, first } = plant(language, ({ findings }) => {
      const index = findings.findIndex(({ explanation }) => explanation.includes(right));
      at(findings, index).explanation = at(findings, index).explanation.replace(right, wrong);
    });
    expect(codes).toEqual([code]);
    expect(first?.remedy).toContain(right);
  });

  test('another wording of the same force and figures passes', () => {
    const { codes } = plant('en', ({ findings }) => {
      const index = findings.findIndex(({ explanation }) => explanation.includes('The payment term is'));
      at(findings, index).explanation = at(findings, index).explanation.replace(
        'The payment term is',
        'The payment term runs for',
      );
    });
    expect(codes).toEqual([]);
  });

  test('catches a figure that no evidence states', () => {
    const { codes, first } = plant('en', ({ findings }) => {
      at(findings, 1).explanation = at(findings, 1).explanation.replace('45 days', '60 days');
    });
    expect(codes).toEqual(['FIGURE_NOT_IN_EVIDENCE']);
    expect(first?.message).toContain('60 days');
    expect(first?.message).toContain('forty-five (45) days');
  });

  test.each([
    ['每日0.1%', '每日0.1‰'],
    ['每年36.5%', '每年365%'],
    ['每年14.6%', '每月14.6%'],
  ])('catches a figure of another magnitude: %s as %s', (right, wrong) => {
    const { codes } = plant('zh', ({ findings }) => {
      at(findings, 0).explanation = at(findings, 0).explanation.replace(right, wrong);
    });
    expect(codes).toEqual(['FIGURE_NOT_IN_EVIDENCE']);
  });

  test('catches a version that held before the pin and names the one that holds', () => {
    const { codes, first } = plant('en', ({ findings }) => {
      at(findings, 1).policy = 'hl-payment-term-max@1';
    });
    expect(codes).toContain('FACT_NOT_VALID_AT_PIN');
    expect(first?.remedy).toContain('hl-payment-term-max@2');
  });

  test('catches a version that does not exist', () => {
    const { codes } = plant('en', ({ findings }) => {
      at(findings, 1).policy = 'hl-payment-term-max@9';
    });
    expect(codes).toContain('FACT_UNKNOWN');
  });

  test('catches a date that no evidence states', () => {
    const { codes, first } = plant('en', ({ findings }) => {
      at(findings, 1).explanation += ' The rule holds since 1 February 2025.';
    });
    expect(codes).toContain('DATE_NOT_IN_EVIDENCE');
    expect(first?.remedy).toContain('2025-01-01');
  });

  test('accepts a date of the cited fact, however written', () => {
    const { verdict } = plant('en', ({ findings }) => {
      at(findings, 1).explanation += ' The rule holds since January 1, 2025.';
    });
    expect(verdict.reasons).toEqual([]);
  });

  test('catches swapped severities', () => {
    const { codes, first } = plant('en', (draft) => {
      at(draft.findings, 0).severity = 'LOW';
      at(draft.findings, 2).severity = 'HIGH';
    });
    expect(codes).toEqual(['SEVERITY_DIFFERS', 'SEVERITY_DIFFERS']);
    expect(first).toMatchObject({ path: 'findings.0.severity', remedy: 'Set the severity to HIGH.' });
  });

  test('catches a clause called missing that is there', () => {
    const { codes } = plant('en', ({ findings }) => {
      Object.assign(at(findings, 1), { problem: 'missing', quote: '', span: null, found: null });
    });
    expect(codes).toContain('CLAUSE_NOT_MISSING');
  });

  test('catches a deviation called compliant', () => {
    const { codes } = plant('en', (draft) => {
      const { severity: _severity, problem: _problem, ...item } = at(draft.findings, 1);
      draft.findings.splice(1, 1);
      draft.compliant.push({
        ...item,
        span: item.span ?? { start: 0, end: 0 },
        found: item.found ?? at(draft.compliant, 0).found,
      });
      draft.summary = { ...draft.summary, medium: 0, compliant: 3 };
    });
    expect(codes).toEqual(['PROBLEM_DIFFERS']);
  });

  test('catches a finding left out', () => {
    const { codes, first } = plant('en', (draft) => {
      draft.findings.splice(0, 1);
      draft.summary = { ...draft.summary, high: 0 };
    });
    expect(codes).toEqual(['COMPARISON_OMITTED']);
    expect(first?.remedy).toContain('3 times the fees');
  });

  test('catches a misread value and a fact quoted wrongly', () => {
    const misread = plant('en', ({ findings }) => {
      const { found } = at(findings, 1);
      if (found !== null) at(findings, 1).found = { ...found, value: '30' };
    });
    expect(misread.codes).toEqual(['VALUE_MISREAD']);
    const misquoted = plant('en', ({ evidence }) => {
      const fact = evidence.find((item) => item.type === 'fact');
      if (fact?.type === 'fact') fact.statement = 'Customers may pay whenever they like.';
    });
    expect(misquoted.codes).toEqual(['FACT_MISQUOTED']);
  });

  test('catches a policy that could not be applied and is left out, told otherwise or made up', () => {
    const typo = aFact({ id: 'hl-typo', key: 'payment_term maxi_days', value: '30', statement: 'Pay within 30 days.' });
    const input = setUp('en');
    const facts = [...input.facts, typo];
    const analysis = reviewContract({ text: input.text, facts: facts.filter((fact) => holdsAt(fact, PIN)) });
    const report = generateReport(analysis, { document: input.report.document, pin: PIN });
    const judge = (unapplied: ContractReport['unapplied']) => {
      const markdown = renderMarkdown({ ...report, unapplied });
      return checkReport({ ...input, facts, report: { ...report, unapplied, markdown } }).reasons;
    };
    expect(judge(report.unapplied)).toEqual([]);
    expect(judge([])).toMatchObject([{ code: 'UNAPPLIED_OMITTED', remedy: expect.stringContaining('hl-typo@1') }]);
    expect(judge([{ policy: 'hl-typo@1', why: 'it does not matter' }])).toMatchObject([{ code: 'UNAPPLIED_DIFFERS' }]);
    const invented = [...report.unapplied, { policy: 'hl-payment-term-max@2', why: 'it does not matter' }];
    expect(judge(invented)).toMatchObject([{ code: 'UNAPPLIED_INVENTED', path: 'unapplied.1' }]);
    const { unapplied: _unapplied, ...without } = report;
    expect(checkReport({ ...input, facts, report: without }).reasons.map(({ code }) => code)).toContain(
      'UNAPPLIED_OMITTED',
    );
  });

  test('catches Markdown that says something else than the fields', () => {
    const input = setUp('en');
    const markdown = input.report.markdown.replace('45 days', '46 days');
    const verdict = checkReport({ ...input, report: { ...input.report, markdown } });
    expect(verdict.reasons[0]).toMatchObject({ code: 'MARKDOWN_DIFFERS' });
    expect(verdict.reasons[0]?.message).toContain('46 days');
  });

  test('refuses reasoning text, unknown keys and unknown severities', () => {
    const input = setUp('en');
    const carrying = checkReport({
      ...input,
      report: { ...input.report, document: { ...input.report.document, scratchpad: 'hm' } },
    });
    expect(carrying.reasons[0]).toMatchObject({ code: 'FORBIDDEN_KEY', path: 'document.scratchpad' });
    const unknown = checkReport({ ...input, report: { ...input.report, verdict: 'pass' } });
    expect(unknown.reasons[0]?.code).toBe('SCHEMA_INVALID');
    const [first, ...others] = input.report.findings;
    const severe = checkReport({
      ...input,
      report: { ...input.report, findings: [{ ...first, severity: 'FATAL' }, ...others] },
    });
    expect(severe.reasons[0]).toMatchObject({ code: 'SCHEMA_INVALID', path: 'findings.0.severity' });
    for (const junk of [null, 'pass', [], { decision: 'pass' }])
      expect(checkReport({ ...input, report: junk }).decision).toBe('rework');
  });

  test('rejects a report on another document or another pin', () => {
    const input = setUp('en');
    expect(checkReport({ ...input, sha256: 'b'.repeat(64) })).toMatchObject({ decision: 'reject' });
    expect(checkReport({ ...input, pin: { ...PIN, revision: 8 } })).toMatchObject({ decision: 'reject' });
  });

  test('believes its own document, not the quotes of the report', () => {
    const input = setUp('en');
    const verdict = checkReport({ ...input, text: input.text.replace('forty-five (45)', 'twenty-five (25)') });
    expect(verdict.decision).toBe('rework');
    expect(verdict.reasons.map(({ code }) => code)).toContain('QUOTE_NOT_IN_DOCUMENT');
  });
});
