import { expect, test } from 'vitest';
import { findHops } from './save-hops.ts';

const base = {
  trigger: 'x',
  attempt: null,
  spent: null,
  round: 1,
  claimId: null,
  worker: null,
  code: null,
  tenantId: 'acme',
  at: 0,
};
const task = (from: string | null, to: string) => ({ ...base, taskSeq: 1, stepId: null, from, to });
const step = (from: string | null, to: string) => ({ ...base, taskSeq: 1, stepId: 'a', from, to });

test('a single move, or several that end where one could, need no hop', () => {
  expect(findHops([task('pending', 'executing')])).toEqual([]);
  expect(findHops([task('pending', 'executing'), task('executing', 'failed')])).toEqual([]);
  expect(findHops([task(null, 'pending'), task('pending', 'executing')])).toEqual([]);
});

test('cancelled and retried in one batch passes through failed', () => {
  expect(findHops([task('executing', 'failed'), task('failed', 'pending')])).toEqual([
    { taskSeq: 1, stepId: null, states: ['failed'] },
  ]);
});

test('a step that was claimed and reported in one batch needs no hop: its new claim says that it was executed', () => {
  expect(findHops([step('pending', 'executing'), step('executing', 'completed')])).toEqual([]);
  expect(findHops([step('failed', 'pending'), step('pending', 'executing'), step('executing', 'completed')])).toEqual([
    { taskSeq: 1, stepId: 'a', states: ['pending', 'executing'] },
  ]);
});

test('a task that began and ended in one batch passes through executing', () => {
  expect(findHops([task('pending', 'executing'), task('executing', 'completed')])).toEqual([
    { taskSeq: 1, stepId: null, states: ['executing'] },
  ]);
});

test('back where it began needs no hop', () => {
  expect(findHops([task('failed', 'pending'), task('pending', 'failed')])).toEqual([]);
});
