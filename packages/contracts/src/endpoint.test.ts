import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { CATALOGUE, defineEndpoint } from './index.ts';

test('the schemas of an endpoint are built when they are asked for, once', () => {
  const request = vi.fn(() => z.strictObject({ taskId: z.string() }));
  const value = vi.fn(() => z.strictObject({ done: z.boolean() }));
  const endpoint = defineEndpoint({ plane: 'qry', noun: 'task', verb: 'get', servedBy: 'gateway' }, request, value);
  expect([request.mock.calls.length, value.mock.calls.length]).toEqual([0, 0]);
  expect(endpoint.request).toBe(endpoint.request);
  expect(endpoint.reply).toBe(endpoint.reply);
  expect([request.mock.calls.length, value.mock.calls.length]).toEqual([1, 1]);
});

test('the catalogue asks for none of them before its messages are read', () => {
  const asked = CATALOGUE.filter(({ subject }) => subject.startsWith('qry.')).map((entry) =>
    Object.getOwnPropertyDescriptor(entry, 'messages'),
  );
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.every((property) => property?.get !== undefined)).toBe(true);
});
