import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from './read-answer.ts';

const Invoice = z.strictObject({ id: z.number(), note: z.string().optional() });
const read = (content: string) => readAnswer(content, Invoice, []);

test.each([
  ['{"id":9007199254740993}', 'it holds the number 9007199254740993, which would become 9007199254740992'],
  ['It is:\n```json\n{"id":12345678901234567890}\n```', 'it holds the number 12345678901234567890, which would become'],
])('C25: an answer whose digits would change is none, and is told why: %s', (content, problem) => {
  expect(read(content)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test.each([
  ['in quotes', '{"id":7,"note":"9007199254740993"}', { id: 7, note: '9007199254740993' }],
  ['in the prose around it', 'No. 9007199254740993 is {"id":7}.', { id: 7 }],
  ['in an object that is not the answer', '{"seen":9007199254740993} {"id":7}', { id: 7 }],
  ['that a double holds', '{"id":9007199254740992}', { id: 9007199254740992 }],
])('a long number %s takes nothing from an answer', (_, content, value) => {
  expect(read(content)).toEqual({ ok: true, value });
});
