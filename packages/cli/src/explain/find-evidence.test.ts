import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findEvidence } from './find-evidence.ts';

test('quotes with their places and fact versions, each once, in order; prose is no evidence', () => {
  const result = {
    findings: [{ quote: 'Pay in 90 days.', span: { start: 5, end: 20 }, policy: 'term@2' }],
    evidence: [
      { quote: 'Pay in 90 days.', span: { start: 5, end: 20 } },
      { type: 'fact', policy: 'term@2' },
      { policy: 'rate@1', quote: '', span: null },
    ],
    markdown: 'as cap@3 says',
  };
  expect(findEvidence(result)).toEqual({
    passages: [{ quote: 'Pay in 90 days.', start: 5, end: 20 }],
    factRefs: ['term@2', 'rate@1'],
  });
});

test('any result, however deep, ends', () => {
  let deep: unknown = 'x@1';
  for (let n = 0; n < 100_000; n++) deep = { deep };
  expect(findEvidence(deep)).toEqual({ passages: [], factRefs: [] });
  fc.assert(fc.property(fc.anything(), (value) => void findEvidence(value)));
});
