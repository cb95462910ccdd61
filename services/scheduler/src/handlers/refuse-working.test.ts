import { expect, test } from 'vitest';
import { toFinishedReport } from './refuse-working.ts';

const fence = { epoch: 1, tenantId: 'acme', taskId: 't-1', stepId: 's', attempt: 1, claimId: 'w:1' };
const usage = { durationMs: 1 };

test('a result handed in with its claim is held to the same names as a report', () => {
  expect(toFinishedReport({ fence, output: { text: 'x' }, usage })).toMatchObject({ outcome: 'succeeded' });
  expect(toFinishedReport({ fence, output: { a: [{ reasoning: 'let me think' }] }, usage })).toMatchObject({
    outcome: 'failed',
    error: { code: 'OUTPUT_CONTRACT', disposition: 'terminal' },
  });
});
