import type { TaskState } from '@cleanslate/contracts';
import { isTransitionAllowed } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { toNumberArray, toTextArray } from './arrays.ts';
import { STEP_OF_X, TASK_OF_X } from './one-plan.ts';
import type { Changes } from './save.ts';

type Chain = {
  readonly taskSeq: number;
  readonly stepId: string | null;
  readonly from: TaskState;
  readonly to: TaskState[];
};
type Hop = { readonly taskSeq: number; readonly stepId: string | null; readonly states: readonly TaskState[] };

/**
 * The trigger judges single moves, and a batch may make several of one row (cancelled and retried; a task whose only
 * step is claimed and reported at once). Where the last state can't be reached from the first in one move, those in
 * between are written first, as the transitions tell them: all first ones together, then all second ones.
 */
export async function writeHops(tx: Tx, transitions: Changes['transitions']): Promise<void> {
  const hops = findHops(transitions);
  const most = Math.max(0, ...hops.map(({ states }) => states.length));
  // All on their way at once: the server takes statements in the order in which they are sent.
  await Promise.all(Array.from({ length: most }, (_, i) => writeMoves(tx, hops, i)));
}

async function writeMoves(tx: Tx, hops: readonly Hop[], i: number): Promise<void> {
  const moves = hops.flatMap(({ taskSeq, stepId, states }) => {
    const state = states[i];
    return state === undefined ? [] : [{ taskSeq, stepId, state }];
  });
  await Promise.all([
    writeStepHops(
      tx,
      moves.filter((move) => move.stepId !== null),
    ),
    writeTaskHops(
      tx,
      moves.filter((move) => move.stepId === null),
    ),
  ]);
}

type Move = { readonly taskSeq: number; readonly stepId: string | null; readonly state: TaskState };

async function writeStepHops(tx: Tx, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  await tx.query(
    `UPDATE ledger.steps s SET state = x.state FROM unnest($1::int8[], $2::text[], $3::text[]) AS x(task_seq, step_id, state)
     WHERE ${STEP_OF_X}`,
    [
      toNumberArray(moves.map((move) => move.taskSeq)),
      toTextArray(moves.map((move) => move.stepId)),
      toTextArray(moves.map((move) => move.state)),
    ],
  );
}

async function writeTaskHops(tx: Tx, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  await tx.query(
    `UPDATE ledger.tasks t SET state = x.state FROM unnest($1::int8[], $2::text[]) AS x(task_seq, state) WHERE ${TASK_OF_X}`,
    [toNumberArray(moves.map((move) => move.taskSeq)), toTextArray(moves.map((move) => move.state))],
  );
}

/** Rows whose moves can't be written as one, with the states to pass through. */
export function findHops(transitions: Changes['transitions']): readonly Hop[] {
  const chains = new Map<string, Chain>();
  for (const { taskSeq, stepId, from, to } of transitions) {
    const key = stepId === null ? `${taskSeq}` : `${taskSeq}/${stepId}`;
    const chain = chains.get(key);
    if (chain !== undefined) chain.to.push(to as TaskState);
    // A row is inserted as pending, whatever follows in the same batch.
    else {
      const began = (from ?? 'pending') as TaskState;
      chains.set(key, { taskSeq, stepId, from: began, to: from === null ? [] : [to as TaskState] });
    }
  }
  const hops: Hop[] = [];
  for (const { taskSeq, stepId, from, to } of chains.values()) {
    const last = to.at(-1);
    if (last === undefined || last === from || isOneMove(stepId, from, to)) continue;
    hops.push({ taskSeq, stepId, states: to.slice(0, -1) });
  }
  return hops;
}

/**
 * What the database's triggers let pass as one: a move of the table, or a step that was claimed and reported, which
 * its row shows by its new claim.
 */
function isOneMove(stepId: string | null, from: TaskState, to: readonly TaskState[]): boolean {
  const last = to.at(-1) ?? from;
  if (isTransitionAllowed(stepId === null ? 'task' : 'step', from, last)) return true;
  return stepId !== null && from === 'pending' && to.length === 2 && to[0] === 'executing' && last === 'completed';
}
