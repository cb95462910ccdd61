import { randomUUID } from 'node:crypto';
import type { PubAck, Publisher } from '@cleanslate/bus';
import { AppError, isAppError } from '@cleanslate/contracts';
import { findStep, type OutgoingContext, toDoorbell } from '@cleanslate/domain/ledger';
import {
  type DoorbellKey,
  findLeftDoorbells,
  findUnnotedTasks,
  type LeftDoorbells,
  noteDoorbells,
  readStates,
  type StoredDoorbell,
  type Tx,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE, type LedgerContext } from '../ledger/apply-batch.ts';
import type { DueDoorbell } from '../ledger/batch.ts';
import { Loop } from './loop.ts';

/** A doorbell is held in memory for at most this long; then it is the sweep's, which builds it from its step as that is by then. */
const GIVE_UP_MS = 4_000;
/** Longer than a doorbell is held, and than its PubAck waits to be noted. */
const LEFT_AFTER_MS = 5_000;
/** So many are built and published at once: each from the whole state of its task, with all outputs. */
const LEFT_LIMIT = 100;
/** PubAcks are noted in batches this far apart, none before it is this old: by then nearly all doorbells are answered, and their steps need no note of where in the stream they hang. */
const NOTE_MS = 1_500;
const SWEEP_MS = 2_000;
/** One that was left is out of the sweep's sight for a while after a ring check. */
const UNSEEN_MS = 3 * LEFT_AFTER_MS;

export type DoorbellRelayOptions = {
  readonly context: Pick<LedgerContext, 'database' | 'plans' | 'epoch' | 'options'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly isConnected: () => boolean;
  /** What the broker will never take; resolves once the ledger knows. */
  readonly onUnsendable: (doorbell: DueDoorbell, error: AppError) => Promise<void>;
  readonly onError: (error: unknown, name: string) => void;
};

/**
 * Publishes the doorbells of dispatched steps: those of this process from memory as soon as they are committed, and those that it or another could not publish from their steps. A step whose
 * row names no stream sequence is a doorbell that is to be published; a repeat has the same message id, and where the broker does not recognize it any more, the claim does.
 */
export class DoorbellRelay {
  readonly #options: DoorbellRelayOptions;
  readonly #abort = new AbortController();
  #stored: StoredDoorbell[] = [];
  /** Stored before the last note. */
  #older: StoredDoorbell[] = [];
  /** What the sweep found and no PubAck has come for since: when it did so first, and last, and whether somebody heard that it can't be published. */
  readonly #left = new Map<string, { readonly since: number; readonly seen: number; readonly told: boolean }>();
  readonly #noter: Loop;
  readonly #sweeper: Loop;

  constructor(options: DoorbellRelayOptions) {
    this.#options = options;
    const { onError } = options;
    this.#noter = new Loop({ name: 'doorbell-notes', everyMs: NOTE_MS, run: () => this.#noteOlder(), onError });
    this.#sweeper = new Loop({
      name: 'doorbell-sweeper',
      everyMs: SWEEP_MS,
      run: (signal) => this.#sweep(signal),
      onError,
    });
  }

  /** How many doorbells the broker has not taken although they are long committed, and how long the oldest of them has been seen so. Seconds. */
  get left(): { readonly count: number; readonly seconds: number } {
    const since = Math.min(...[...this.#left.values()].map((each) => each.since));
    const seconds = this.#left.size === 0 ? 0 : (performance.now() - since + LEFT_AFTER_MS) / 1_000;
    return { count: this.#left.size, seconds };
  }

  start(): void {
    this.#noter.start();
    this.#sweeper.start();
  }

  /** Looks at once for what was left: the broker is back. */
  wake(): void {
    this.#sweeper.wake();
  }

  /** Returns at once; their steps are committed. */
  send(doorbells: readonly DueDoorbell[], context: OutgoingContext): void {
    for (const doorbell of doorbells) void this.#publish(doorbell, context);
  }

  async stop(): Promise<void> {
    const swept = this.#sweeper.stop();
    this.#abort.abort();
    await swept;
    await this.#noter.stop();
    await this.#noteAll().catch((error) => this.#options.onError(error, 'doorbell-notes'));
  }

  async #publish(doorbell: DueDoorbell, context: OutgoingContext): Promise<void> {
    const { taskSeq, stepId, attempt, ring } = doorbell;
    try {
      const { seq } = await this.#hand(doorbell, context);
      this.#stored.push({ taskSeq, stepId, attempt, ring, streamSequence: seq });
      if (this.#left.size > 0) this.#left.delete(nameOf(doorbell));
    } catch (error) {
      if (isAppError(error) && error.code === 'PAYLOAD_TOO_LARGE') await this.#giveUp(doorbell, error);
      // An outage: its step stays as it is, and the sweep finds it.
      else if (!isAppError(error) || error.code !== 'BROKER_UNAVAILABLE') this.#tell(doorbell, error);
    }
  }

  /** Apart, so that nothing of the message but its bytes is kept until the PubAck comes. */
  #hand({ state, stepId }: DueDoorbell, context: OutgoingContext): Promise<PubAck> {
    const [doorbell] = toDoorbell(state, stepId, context);
    if (doorbell === undefined) throw new AppError('INTERNAL', `the plan of "${stepId}" has no such step`);
    const { subject, headers, messageId, envelope } = doorbell;
    return this.#options.publisher.publish(
      { stream: 'COMMANDS', subject, headers, messageId, body: Buffer.from(JSON.stringify(envelope)) },
      { signal: this.#abort.signal, giveUpAfterMs: GIVE_UP_MS },
    );
  }

  /** Refused for good: the step ends with a dead letter. */
  async #giveUp(doorbell: DueDoorbell, error: AppError): Promise<void> {
    try {
      await this.#options.onUnsendable(doorbell, error);
      this.#left.delete(nameOf(doorbell));
    } catch (again) {
      this.#options.onError(again, 'doorbell-unsendable');
    }
  }

  /** What was here at the last turn already: nearly all steps are claimed before their doorbells are that old. */
  async #noteOlder(): Promise<boolean> {
    const older = this.#older;
    this.#older = this.#stored;
    this.#stored = [];
    await this.#note(older);
    return false;
  }

  async #noteAll(): Promise<void> {
    await this.#note([...this.#older.splice(0), ...this.#stored.splice(0)]);
  }

  async #note(stored: readonly StoredDoorbell[]): Promise<void> {
    if (stored.length === 0) return;
    try {
      await withTransaction(
        this.#options.context.database,
        { ...LEDGER_SCOPE, relaxedDurability: true },
        async (tx) => {
          const unnoted = await findUnnotedTasks(tx);
          await noteDoorbells(
            tx,
            stored.filter(({ taskSeq }) => unnoted.has(taskSeq)),
          );
        },
      );
    } catch (error) {
      this.#older = [...stored, ...this.#older];
      throw error;
    }
  }

  /** Ends when they are published or given up, and noted: the next sweep finds none of them again. What can't be read or sent holds up none behind it. */
  async #sweep(signal: AbortSignal): Promise<boolean> {
    const age = { olderThanMs: LEFT_AFTER_MS, ringCheckMs: this.#options.context.options.ringCheckMs };
    const began = performance.now();
    let behind: LeftDoorbells['last'];
    do {
      const { at, doorbells, last } = await this.#read((tx) => findLeftDoorbells(tx, age, LEFT_LIMIT, behind));
      this.#see(doorbells);
      if (doorbells.length === 0) break;
      if (!this.#options.isConnected()) return false;
      const context = { time: new Date(at).toISOString(), newId: randomUUID };
      await Promise.all((await this.#load(doorbells)).map((doorbell) => this.#publish(doorbell, context)));
      await this.#noteAll();
      behind = last;
    } while (behind !== undefined && !signal.aborted);
    // However long a sweep takes, it has seen by now what still is left.
    for (const [name, { seen }] of this.#left) if (began - seen > UNSEEN_MS) this.#left.delete(name);
    return false;
  }

  #see(doorbells: readonly DoorbellKey[]): void {
    const now = performance.now();
    for (const key of doorbells) {
      const name = nameOf(key);
      const { since = now, told = false } = this.#left.get(name) ?? {};
      this.#left.set(name, { since, seen: now, told });
    }
  }

  /** With the states of their tasks as they are now. One task that can't be read must not hold up the others. */
  async #load(keys: readonly DoorbellKey[]): Promise<readonly DueDoorbell[]> {
    try {
      return await this.#read((tx) => loadDue(tx, this.#options.context, keys));
    } catch (error) {
      if (isAppError(error) && error.code === 'DATABASE_UNAVAILABLE') throw error;
      const middle = Math.ceil(keys.length / 2);
      if (keys.length > 1)
        return [...(await this.#load(keys.slice(0, middle))), ...(await this.#load(keys.slice(middle)))];
      for (const key of keys) this.#tell(key, error);
      return [];
    }
  }

  /**
   * Once, however often the sweep finds it again. Its step is not given up by who can't read its task: a scheduler of a newer release beside this one may, and no decision is made without the
   * state. Until then it counts as left, and, its ring check overdue, as unaccounted for.
   */
  #tell(key: DoorbellKey, cause: unknown): void {
    const name = nameOf(key);
    const left = this.#left.get(name);
    if (left?.told) return;
    if (left !== undefined) this.#left.set(name, { ...left, told: true });
    const what = cause instanceof Error ? cause.message : String(cause);
    this.#options.onError(
      new AppError('INTERNAL', `doorbell ${name} (task_seq/step/attempt/ring) was not published: ${what}`, { cause }),
      'doorbell-publish',
    );
  }

  #read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return withTransaction(this.#options.context.database, { ...LEDGER_SCOPE, readOnly: true }, work);
  }
}

/** Those that are still waited for. */
async function loadDue(
  tx: Tx,
  { epoch, plans }: Pick<LedgerContext, 'epoch' | 'plans'>,
  keys: readonly DoorbellKey[],
): Promise<readonly DueDoorbell[]> {
  const states = await readStates(tx, epoch, [...new Set(keys.map((key) => key.taskSeq))], plans);
  const byTask = new Map(states.map(({ taskSeq, state }) => [taskSeq, state]));
  return keys.flatMap((key) => {
    const state = byTask.get(key.taskSeq);
    const step = state && findStep(state, key.stepId);
    if (state === undefined || step?.phase !== 'dispatched') return [];
    return step.attempt === key.attempt && step.ring === key.ring ? [{ ...key, state }] : [];
  });
}

function nameOf({ taskSeq, stepId, attempt, ring }: DoorbellKey): string {
  return `${taskSeq}/${stepId}/${attempt}/${ring}`;
}
