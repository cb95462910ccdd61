import { assertRemembersNothing } from '@cleanslate/runtime/testing';
import { reviewContract } from '@cleanslate/workflows';
import { expect, test } from 'vitest';
import { generateExecutor } from './contract-review.ts';

const pin = { validAt: '2026-01-01T00:00:00.000Z', revision: 1 };
const document = (name: string) => ({ name, mediaType: 'text/plain', sha256: 'a'.repeat(64), bytes: 10 });

test('two reports in both orders are the same: nothing of one review is in another', async () => {
  const inputs = ['Invoices are due within 30 days.', '甲方应在收到发票后60日内付款。'].map((text, index) => ({
    document: document(`${index}.txt`),
    pin,
    feedback: null,
    analysis: reviewContract({ text, facts: [] }),
  }));
  await expect(assertRemembersNothing(generateExecutor(), [inputs[0], inputs[1]])).resolves.toBeUndefined();
});
