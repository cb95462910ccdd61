import { encodeMessage, type TaskSubmit as Submit, TaskSubmit } from '@cleanslate/contracts';
import { WORKFLOWS } from '@cleanslate/workflows';
import { expect, test } from 'vitest';
import { readSubmit } from './read-submit.ts';
import { WorkflowRegistry } from './workflow-registry.ts';

const registry = new WorkflowRegistry(WORKFLOWS);
const read = (data: Partial<Submit>) => {
  const attributes = { id: 'submit-1', source: '/test', time: '2026-01-01T00:00:00.000Z', tenantid: 'acme' };
  const body = encodeMessage(TaskSubmit, attributes, { workflow: 'noop', input: {}, key: 'k', ...data });
  return readSubmit({ tenantId: 'acme', body, traceparent: null }, registry);
};

test('the same key with another pin is another question, with another deadline or priority the same', () => {
  const { bodyHash } = read({});
  expect(read({ validAt: '2024-08-01' }).bodyHash).not.toBe(bodyHash);
  expect(read({ revision: 1 }).bodyHash).not.toBe(bodyHash);
  expect(read({ deadlineMs: 60_000, priority: 'high' }).bodyHash).toBe(bodyHash);
});

test('a redelivered submit without key or id names the same task', () => {
  expect(read({ key: undefined }).taskId).toBe(read({ key: undefined }).taskId);
});
