import { expect, test } from 'vitest';
import { RecentQuestions } from './recent-questions.ts';

test('the same words are the same question, for one tenant and for a day', () => {
  let now = 0;
  const asked = new RecentQuestions(() => now);
  expect(asked.note('acme', 'How late may an invoice be paid?')).toBe(false);
  expect(asked.note('acme', 'how late may an invoice be paid')).toBe(true);
  expect(asked.note('globex', 'how late may an invoice be paid')).toBe(false);
  expect(asked.note('acme', 'How late may an invoice be sent?')).toBe(false);
  now = 25 * 3_600_000;
  expect(asked.note('acme', 'How late may an invoice be paid?')).toBe(false);
});

test('what was asked longest ago is forgotten first', () => {
  const asked = new RecentQuestions(() => 0);
  for (let n = 0; n <= 20_000; n++) asked.note('acme', `question ${n}`);
  expect(asked.note('acme', 'question 0')).toBe(false);
  expect(asked.note('acme', 'question 20000')).toBe(true);
});
