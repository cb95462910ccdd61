import { startPlatform } from '@cleanslate/testing';
import { expect, inject, test } from 'vitest';

test('a task of four steps runs through real processes', async () => {
  await using platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    log: (name, line) => (process.env['SHOW'] ? console.log(name, line) : undefined),
  });
  const client = await platform.client();
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });
  const task = await client.result(taskId);
  expect(task.state).toBe('completed');
  expect(task.steps.map((step) => [step.stepId, step.state, step.attempt])).toEqual([
    ['retrieve', 'completed', 1],
    ['analyze', 'completed', 1],
    ['generate', 'completed', 1],
    ['validate', 'completed', 1],
  ]);
});
