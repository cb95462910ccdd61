import type { Aggregate, Step } from '@cleanslate/domain';
import { keyOf, type StoredAggregate } from './rows.ts';

/** Tasks kept at most, and how large one may be (characters of input and outputs): enough for everything in motion at full load, a few tens of MB at worst. */
const MAX_TASKS = 2_000;
const MAX_SIZE = 16_000;

/**
 * Aggregates as this process committed them last. A task's version is the transaction that wrote its row, and the ones that wrote its steps' rows: whoever changes a row changes
 * the version, so a state is used only while the ledger holds exactly it. Saves reading and parsing four step rows for each claim and each report.
 */
export class StateCache {
  readonly #kept = new Map<number, { readonly version: string; readonly state: Aggregate }>();

  /** By `keyOf`. */
  readonly #seqs = new Map<string, number>();

  /** The task's key in the tables, where it is known; it never changes. */
  findSeq(key: string): number | undefined {
    return this.#seqs.get(key);
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
    for (const { before, after } of changes) this.keep(after.taskSeq, after.state, toVersion(before, after.state, xid));
  }

  /** What the rows of this version say; read under the lock, or written by a transaction that is committed. */
  keep(taskSeq: number, state: Aggregate, version: string): void {
    // Forgotten first: a map is in order of insertion, so the oldest is the first.
    this.forget(taskSeq);
    const ended = state.task.state === 'completed' || state.task.state === 'failed';
    if (ended || !isSmall(state)) return;
    this.#kept.set(taskSeq, { version, state });
    this.#seqs.set(keyOf(state.task), taskSeq);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_TASKS) break;
      this.forget(oldest);
    }
  }

  /** A server that crashed or was failed over from may give out again the number of a transaction it lost: no version says anything then. */
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
  const isOld = (step: Step, i: number) => before?.state.steps[i] === step;
  return `${taskXid}|${state.steps.map((step, i) => (isOld(step, i) ? old[i] : xid)).join(',')}`;
}

/** Rough, and done as soon as the limit is passed. */
function isSmall({ task, steps }: Aggregate): boolean {
  let left = MAX_SIZE;
  const count = (value: unknown): void => {
    if (left < 0) return;
    left -= typeof value === 'string' ? value.length : 8;
    if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) count(item);
  };
  count(task.input);
  for (const { output, feedback, failures, candidates } of steps) count([output, feedback, failures, candidates]);
  return left >= 0;
}
