import type { Candidate } from '@cleanslate/contracts';
import { assertRemembersNothing, fakeStepContext } from '@cleanslate/runtime/testing';
import { expect, test } from 'vitest';
import { analyzeExecutor } from './contract-review.ts';

const TEXTS = new Map([
  ['a'.repeat(64), 'Customer shall pay the fees of each invoice within thirty (30) days of receipt.'],
  ['b'.repeat(64), 'This Agreement shall be governed by the laws of the State of Ohio.'],
]);

const inputOf = (sha256: string) => ({
  document: { name: 'c.txt', mediaType: 'text/plain', sha256, bytes: 10 },
  facts: [],
  feedback: null,
});

test('two contracts in both orders give the same: nothing of one is in the other', async () => {
  const context = () =>
    fakeStepContext({ documents: { read: async ({ sha256 }: { sha256: string }) => TEXTS.get(sha256) ?? '' } });
  const [first = '', second = ''] = TEXTS.keys();
  await expect(
    assertRemembersNothing(analyzeExecutor(), [inputOf(first), inputOf(second)], context),
  ).resolves.toBeUndefined();
});

test('what it proposes is what it quotes', async () => {
  const proposed: Candidate[] = [];
  const context = fakeStepContext({
    documents: { read: async () => TEXTS.get('a'.repeat(64)) ?? '' },
    blackboard: {
      propose: async (candidate: Candidate) => {
        proposed.push(candidate);
        return `candidate-${proposed.length}`;
      },
    },
  });
  await analyzeExecutor().execute(context, inputOf('a'.repeat(64)));
  expect(proposed).toMatchObject([{ statement: TEXTS.get('a'.repeat(64)), assertion: { value: '30', unit: 'days' } }]);
});
