import { AppError, ERROR_CODES } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { toProblem } from './problem.ts';

const REMEDY = 'check its spelling';
const problemOf = (error: AppError) => toProblem({ error, status: 404 }, '/v1/facts/x', 'r-1');

test.each(Object.keys(ERROR_CODES))('a refusal with %s says what to do once', (code) => {
  const details = { where: 'x', remedy: REMEDY };
  const problem = problemOf(new AppError(code, `this tenant has no fact x: ${REMEDY}`, { details }));
  expect(JSON.stringify(problem).split(REMEDY)).toHaveLength(2);
  expect(problem).toMatchObject({ remedy: REMEDY, details: { where: 'x' } });
});

test('one that says what to do nowhere gets a remedy, and no empty details', () => {
  const problem = problemOf(new AppError('NOT_FOUND', 'no such task'));
  expect(problem).toMatchObject({ title: 'no such task', remedy: expect.stringMatching(/./) });
  expect(problem).not.toHaveProperty('details');
});
