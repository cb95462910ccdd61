import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findFactRefs, splitFactRef } from './find-fact-refs.ts';

test('versions by reference and whole facts, each once, in order; prose, mail addresses and version 0 are none', () => {
  const value = {
    facts: [{ knowledgeId: 'late-rate', version: 3, statement: 'see cap@1 for more', marks: [{ cause: 'cap@1' }] }],
    evidence: [{ policy: 'late-rate@3' }, { policy: 'term@1' }],
    contact: 'someone@example.org',
    odd: ['x@0', 'X@1', { knowledgeId: 'a b', version: 1 }, { knowledgeId: 'cap', version: -1 }],
  };
  expect(findFactRefs(value)).toEqual(['late-rate@3', 'term@1']);
  expect(splitFactRef('late-rate@3')).toEqual({ knowledgeId: 'late-rate', version: 3 });
});

test('any value ends, however deep or wide', () => {
  let deep: unknown = 'x@1';
  for (let n = 0; n < 100_000; n++) deep = { deep };
  expect(findFactRefs(deep)).toEqual([]);
  expect(findFactRefs(Array.from({ length: 5_000 }, (_, n) => `f@${n + 1}`))).toHaveLength(1_000);
  fc.assert(fc.property(fc.anything(), (value) => void findFactRefs(value)));
});
