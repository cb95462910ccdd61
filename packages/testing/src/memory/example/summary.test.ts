import { expectExactlyOnce, randomFaults, runInMemory } from '@cleanslate/testing/memory';
import { expect, test } from 'vitest';
import { summarize, summaryWorkflow } from './summary.ts';

test('a summary survives a hundred bad nights', async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const run = await runInMemory(summaryWorkflow, {
      executors: [summarize],
      input: { text: 'Bees dance. So they tell the way.' },
      faults: randomFaults({ seed }),
    });
    expectExactlyOnce(run);
    if (run.state === 'completed') expect(run.result).toEqual({ summary: 'Bees dance.' });
  }
});
