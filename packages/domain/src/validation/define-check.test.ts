import { describe, expect, test } from 'vitest';
import { checkRoles, defineCheck, readEnum, runChecklist, SEVERITY_WORDS, supportOf } from './index.ts';

const base = { check: 'has_total', question: 'Is the total missing?', evidenceRequired: 'the invoice' };
const reason = { code: 'NO_TOTAL', path: 'total', message: 'There is no total.', remedy: 'Add it up.' };
const hasTotal = defineCheck({
  ...base,
  ask: ({ total }: { total: number | null }) => ({ reasons: total === null ? [reason] : [], detail: 'one total' }),
});

describe('a checklist of one’s own', () => {
  test('passes what no question proves wrong, sends back what one does, with its reasons', () => {
    expect(runChecklist([hasTotal], { total: 5 })).toMatchObject({
      decision: 'pass',
      checks: [{ check: 'has_total', passed: true, detail: 'one total' }],
    });
    expect(runChecklist([hasTotal], { total: null })).toMatchObject({ decision: 'rework', reasons: [reason] });
  });

  test('rejects where doing it again can not help', () => {
    const fatal = defineCheck({ ...base, fatal: true, ask: () => ({ reasons: [reason], detail: '' }) });
    expect(runChecklist([fatal], null).decision).toBe('reject');
  });

  test.each([
    ['a name that is none', { check: 'Has Total' }],
    ['no question', { question: 'The total is good.' }],
  ])('is refused with %s', (_name, fault) => {
    expect(() => defineCheck({ ...base, ...fault, ask: () => ({ reasons: [], detail: '' }) })).toThrow(
      /CONFIGURATION|check/,
    );
  });

  test.each([
    ['without a remedy', { remedy: ' ' }],
    ['without a message', { message: '' }],
    ['with a code that is prose', { code: 'not good' }],
  ])('gives no reason %s', (_name, fault) => {
    const vague = defineCheck({ ...base, ask: () => ({ reasons: [{ ...reason, ...fault }], detail: '' }) });
    expect(() => runChecklist([vague], null)).toThrow(/say what is wrong/);
  });

  test('E17: a check that breaks is an error, not a verdict; nor is an empty checklist', () => {
    const broken = defineCheck({
      ...base,
      ask: (): never => {
        throw new Error('the store is away');
      },
    });
    expect(() => runChecklist([broken], null)).toThrow('the store is away');
    expect(() => runChecklist([], null)).toThrow(/would pass anything/);
  });
});

describe('the role of a figure', () => {
  const roles = [
    { name: 'the contract', begins: /\bThe (?!policy)\w+/g, support: supportOf(['within forty-five (45) days']) },
    { name: 'the policy', begins: /\bthe policy\b/g, support: supportOf(['at most 30 days']) },
  ];
  const codes = (text: string) => checkRoles({ text, path: 'x' }, roles).map(({ code }) => code);

  test('is what its part of the sentence speaks of', () => {
    expect(codes('The term is 45 days; the policy asks for at most 30 days.')).toEqual([]);
    expect(codes('The term is 30 days; the policy asks for at most 45 days.')).toEqual([
      'FIGURE_IN_OTHER_ROLE',
      'FIGURE_IN_OTHER_ROLE',
    ]);
    expect(codes('The term is 30 days; the policy asks for at most 30 days.')).toEqual(['FIGURE_IN_OTHER_ROLE']);
  });

  test('of a figure that nobody states is another question', () => {
    expect(codes('The term is 7 days; the policy asks for 30 days.')).toEqual([]);
  });
});

describe('D16: an enum outside the schema', () => {
  test.each(['High', 'high risk', 'HIGH ', '高', '高风险', 'ＨＩＧＨ', 'HIGH_RISK'])(
    '%s is HIGH by the table',
    (word) => {
      expect(readEnum(SEVERITY_WORDS, word)).toEqual({ ok: true, value: 'HIGH' });
    },
  );

  test.each(['severe', '', 'HIGHEST', 'not high', '__proto__', 'constructor'])(
    '%s is refused with the allowed ones, never LOW',
    (word) => {
      expect(readEnum(SEVERITY_WORDS, word)).toMatchObject({
        ok: false,
        allowed: ['LOW', 'MEDIUM', 'HIGH'],
        message: expect.stringContaining('LOW, MEDIUM, HIGH'),
      });
    },
  );
});
