import { ERROR_CODES, type ErrorBody, TASK_STATES } from '@cleanslate/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { whyOf } from './why.ts';

const task = { taskId: 't1', state: 'failed' as const, error: null as ErrorBody | null, round: 1 };
const step = {
  stepId: 'analyze',
  role: 'analyzer',
  phase: 'failed',
  error: null as ErrorBody | null,
  spent: 1,
  dueAt: null,
  worker: null,
};
const error = (code: string): ErrorBody => ({ code, disposition: 'terminal', message: 'the model was away' });

test('a failed task: which step, after how many tries, with what, and how to go on', () => {
  const tired = { ...step, spent: 3, error: error('ATTEMPTS_EXHAUSTED') };
  const letters = [{ letterId: 'l/1', status: 'open' as const }];
  expect(whyOf({ ...task, error: error('ATTEMPTS_EXHAUSTED') }, [step, tired], letters)).toEqual({
    because: 'step analyze (analyzer) failed after 3 tries with ATTEMPTS_EXHAUSTED: the model was away',
    toDo: "slate dlq show 'l/1'; once its cause is fixed, slate dlq replay 'l/1'",
  });
  expect(whyOf({ ...task, error: error('QUEUE_EXPIRED') }, [], []).toDo).toContain('start workers');
});

test('what the error itself says is to be done is said once, before how to go on', () => {
  const remedy = 'name a file that is there';
  const input: ErrorBody = { ...error('INVALID_INPUT'), message: `no such file: ${remedy}`, details: { remedy } };
  const { because, toDo } = whyOf({ ...task, error: input }, [{ ...step, error: input }], []);
  expect(because).toBe('step analyze (analyzer) failed with INVALID_INPUT: no such file');
  expect(toDo).toMatch(new RegExp(`^${remedy}; fix the input`));
});

test('one that runs: what it waits for', () => {
  const why = whyOf(
    { ...task, state: 'executing' },
    [
      { ...step, phase: 'ready' },
      { ...step, stepId: 'b', phase: 'executing', worker: 'w1' },
    ],
    [],
  );
  expect(why).toEqual({
    because: 'analyze waits for a slot of role analyzer; b runs on w1',
    toDo: expect.stringContaining('slate top'),
  });
});

test('whatever is on record, there is a sentence', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TASK_STATES),
      fc.option(fc.constantFrom(...Object.keys(ERROR_CODES), 'OWN_CODE')),
      fc.array(fc.constantFrom('blocked', 'ready', 'dispatched', 'executing', 'backing_off', 'done', 'failed')),
      (state, code, phases) => {
        const found = code === null ? null : error(code);
        const why = whyOf(
          { ...task, state, error: found },
          phases.map((phase) => ({ ...step, phase, error: found })),
          [],
        );
        expect(why.because.length).toBeGreaterThan(5);
        expect(why.because + (why.toDo ?? '')).not.toMatch(/undefined|null|NaN/);
        if (state === 'failed') expect(why.toDo).not.toBeNull();
      },
    ),
  );
});
