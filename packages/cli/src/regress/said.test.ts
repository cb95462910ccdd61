import { describe, expect, test } from 'vitest';
import { says, saysOtherNumber, toldBy } from './said.ts';

const PIN = { validAt: '2026-11-30T00:00:00.000Z', revision: 3 };
const OFFLINE = { kind: 'offline', model: 'offline' } as const;

/** An answer in the workflow's form with these statements. */
function answer(question: string, statements: object[]) {
  return {
    question,
    language: 'en',
    pin: PIN,
    outcome: statements.length > 0 ? 'answered' : 'not_known',
    statements,
    missing: [],
    disputes: [],
    unreachable: [],
    evidence: [],
    provider: OFFLINE,
    markdown: `# ${question}`,
    plan: { language: 'en', kind: 'lookup', confidence: 1, by: 'template', provider: OFFLINE, subGoals: [] },
  };
}

function quote(text: string, value: string | null = null, unit: string | null = null) {
  const found = { kind: 'quote', subGoal: 'g1', question: 'How many', quote: text, fact: 'rule@1', value, unit };
  return { ...found, verdict: null, validFrom: '2020-01-01T00:00:00.000Z', validUntil: null };
}

describe('what an answer says', () => {
  test('is what it quotes and its values with their units, not the question that it repeats', () => {
    const texts = toldBy(answer('Is it 30 days?', [quote('It is ten days.', '10', 'days')]));
    expect(['It is ten', '10 days', 'answered'].map((wanted) => says(texts, wanted))).toEqual([true, true, true]);
    expect(['30 days', '2020-01-01', 'offline'].map((wanted) => says(texts, wanted))).toEqual([false, false, false]);
    expect(says(toldBy(answer('Is it 30 days?', [])), 'not known')).toBe(true);
  });

  test('includes a comparison and a verdict; of a result in another form, all of it', () => {
    const side = { subGoal: 'g1', fact: 'rule@1', value: '60', unit: 'days' };
    const comparison = {
      kind: 'comparison',
      left: side,
      right: { ...side, value: '90' },
      relation: 'less',
      difference: '30',
      unit: 'days',
    };
    const texts = toldBy(answer('Which?', [comparison, { ...quote('No.'), verdict: 'no' }]));
    expect(['less', '30 days', '60 days', '90 days', 'no'].every((wanted) => says(texts, wanted))).toBe(true);
    expect(says(toldBy({ text: 'It is 30 days.' }), '30 days')).toBe(true);
  });

  test('has whole numbers: a longer one that ends or begins alike is another', () => {
    for (const [text, wanted] of [
      ['28 days', '8 days'],
      ['1.8 %', '8 %'],
      ['1,800 EUR', '800 EUR'],
      ['EUR 180', 'EUR 18'],
      ['EUR 18.5', 'EUR 18'],
    ] as const)
      expect([text, says([text], wanted), saysOtherNumber([text], wanted)]).toEqual([text, false, true]);
    expect(says(['It costs EUR 18.'], 'EUR 18')).toBe(true);
    expect(says(['a.b (c)?'], 'b (c)?')).toBe(true);
  });

  test('with another number is told apart from saying nothing of it', () => {
    expect(saysOtherNumber(['at least 8 characters'], '14 characters')).toBe(true);
    expect(saysOtherNumber(['逾期每年18%'], '12%')).toBe(true);
    expect(saysOtherNumber(['at least 8 letters'], '14 characters')).toBe(false);
    expect(saysOtherNumber(['at least 8 letters'], '14')).toBe(false);
    expect(saysOtherNumber(['at least 8 characters'], 'characters')).toBe(false);
  });
});
