import { readFileSync } from 'node:fs';
import { parsePolicySet } from '@cleanslate/workflows';
import { describe, expect, test } from 'vitest';
import { findWarnings } from './import-facts.ts';

const sample = (name: string) => readFileSync(new URL(`../../../../infra/samples/${name}`, import.meta.url), 'utf8');
const warningsOn = (yaml: string) => findWarnings(parsePolicySet(yaml).facts);

describe('findWarnings', () => {
  test.each(['policies-en.yaml', 'policies-zh.yaml'])('every rule of the shipped %s can be applied', (name) => {
    expect(warningsOn(sample(name))).toEqual([]);
  });

  test.each([
    ['predicate: max_days', 'predicate: maxi_days', '"maxi_days" is no rule for contract.payment_term'],
    ['value: "60"', 'value: "sixty"', '"sixty" is no plain number'],
    ['unit: days', 'unit: parsecs', '"parsecs" can\'t be compared; write days'],
  ])('%s mistyped as %s is warned about, once a fact', (right, wrong, why) => {
    expect(warningsOn(sample('policies-en.yaml').replace(right, wrong))).toEqual([
      { knowledgeId: 'hl-payment-term-max', why: expect.stringContaining(why) },
    ]);
  });

  test("facts about other things are nobody's business here", () => {
    expect(warningsOn(sample('policies-en.yaml').replaceAll('contract.', 'house.'))).toEqual([]);
  });
});
