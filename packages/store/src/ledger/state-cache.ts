import type { Aggregate } from '@cleanslate/domain/ledger';
import { keyOf, type StoredAggregate } from './rows.ts';

/**
 * Tasks kept at most, and how large one may be (characters of input and outputs): far more than are in motion at full
 * load, a few tens of MB at worst.
 */
const MAX_TASKS = 2_000;
/**
 * A task that waits for its first turn is kept only while so few are: those of a flood would push each other
 * out before their turn comes.
 */
const MAX_BESIDE_WAITING = 1_000;
const MAX_SIZE = 16_000;

/**
 * Aggregates as this process committed them last. A task's version is the transaction that wrote its row, and the ones
 * that wrote its steps' rows: whoever changes a row changes the version, so a state is used only while the ledger holds
 * exactly it. Saves reading and parsing four step rows for each claim and each report.
 */
export class StateCache {
  readonly #kept = new Map<number, { version: string; state: Aggregate }>();

  /** By `keyOf`. */
  readonly #seqs = new Map<string, number>();

  /** The task's key in the tables, where it is known; it never changes. */
  findSeq(key: string): number | undefined {
    return this.#seqs.get(key);
  }

  /** In some version. */
  has(taskSeq: number): boolean {
    return this.#kept.has(taskSeq);
  }

  find(taskSeq: number, version: string): Aggregate | undefined {
    const kept = this.#kept.get(taskSeq);
    return kept?.version === version ? kept.state : undefined;
  }

  /** As this process knew it last, whatever became of it since: good for a guess. */
  guess(key: string): Aggregate | undefined {
    const seq = this.#seqs.get(key);
    return seq === undefined ? undefined : this.#kept.get(seq)?.state;
  }

  /** After the commit of transaction `xid`: what it changed. */
  learn(changes: readonly { readonly before: StoredAggregate | null; readonly after: StoredAggregate }[], xid: string) {
    for (const { before, after } of changes) {
      if (this.#isWorthIt(after.state)) this.keep(after.taskSeq, after.state, toVersion(before, after.state, xid));
      else this.forget(after.taskSeq);
    }
  }

  /** What the rows of this version say; read under the lock, or written by a transaction that is committed. */
  keep(taskSeq: number, state: Aggregate, version: string): void {
    if (!this.#isWorthIt(state) || !isSmall(state)) return this.forget(taskSeq);
    const kept = this.#kept.get(taskSeq);
    if (kept !== undefined) {
      kept.version = version;
      kept.state = state;
      return;
    }
    this.#kept.set(taskSeq, { version, state });
    this.#seqs.set(keyOf(state.task), taskSeq);
    // A map is in order of insertion: the first one has been here longest.
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= MAX_TASKS) break;
      this.forget(oldest);
    }
  }

  #isWorthIt({ task: { state } }: Aggregate): boolean {
    if (state === 'pending') return this.#kept.size < MAX_BESIDE_WAITING;
    return state !== 'completed' && state !== 'failed';
  }

  /**
   * A server that crashed or was failed over from may give out again the number of a transaction it lost:
   * no version says anything then.
   */
  clear(): void {
    this.#kept.clear();
    this.#seqs.clear();
  }

  forget(taskSeq: number): void {
    const kept = this.#kept.get(taskSeq);
    if (kept === undefined) return;
    this.#kept.delete(taskSeq);
    this.#seqs.delete(keyOf(kept.state.task));
  }
}

/** Rows that were not written keep the transaction they had. */
function toVersion(before: StoredAggregate | null, state: Aggregate, xid: string): string {
  const [task = '', steps = ''] = before?.version?.split('|') ?? [];
  const old = steps.split(',');
  const taskXid = before !== null && before.state.task === state.task ? task : xid;
  return `${taskXid}|${state.steps.map((step, i) => (before?.state.steps[i] === step ? old[i] : xid)).join(',')}`;
}

function isSmall({ task, steps }: Aggregate): boolean {
  let room = roomBeside(task.input, MAX_SIZE);
  for (const { output, feedback, failures, candidates } of steps) {
    room = roomBeside(output, roomBeside(feedback, roomBeside(failures, roomBeside(candidates, room))));
  }
  return room >= 0;
}

/**
 * What a JSON value leaves of some room, in characters, roughly: it is not looked at to its
 * end where it leaves nothing.
 */
function roomBeside(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  let left = room - 8;
  if (typeof value === 'object')
    for (const key in value) if (left >= 0) left = roomBeside(value[key as keyof typeof value], left);
  return left;
}
