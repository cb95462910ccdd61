/**
 * Statements of the ledger are planned once per connection, by the statistics of that moment: tables may have been
 * empty, or nothing in motion, when they were last analyzed. So they are written such that only the right index fits
 * them (docs/decisions/0048); `submits.ts` does it for keys of text.
 */

/**
 * Step `s` and task `t` of each row `x` of a batch. Not by `=` alone: that also offers the key's whole index as a join
 * order, which looks cheaper if the table seems to be empty.
 */
export const STEP_OF_X = 's.task_seq = ANY (ARRAY[x.task_seq]) AND s.step_id = x.step_id';
export const TASK_OF_X = 't.task_seq = ANY (ARRAY[x.task_seq])';

/** The phase of step `s` as a condition that leads to no index of phases: for steps that are found by their key. */
export const PHASE = `(s.phase || '')`;
