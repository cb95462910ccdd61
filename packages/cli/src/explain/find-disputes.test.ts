import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findDisputes } from './find-disputes.ts';

test('the disputes of a result, each side with its evidence; what is none is left out', () => {
  const side = { fact: 'a@1', statement: '30 days', sourceRef: 'handbook', score: 0.8, evidence: ['a@1'] };
  const dispute = { question: 'q', ruling: 'disputed', reason: 'lead 0.1', lead: 0.1, sides: [side] };
  expect(findDisputes({ disputes: [dispute, { sides: 3 }, 'x'] })).toEqual([
    { ...dispute, sides: [{ ...side, disputeId: null }] },
  ]);
});

test('any result, however odd, ends', () => {
  fc.assert(fc.property(fc.anything(), (value) => void findDisputes(value)));
  fc.assert(fc.property(fc.anything(), (value) => void findDisputes({ disputes: value })));
});
