import { randomUUID } from 'node:crypto';
import type { Publication, Publisher } from '@cleanslate/bus';
import { AppError, isAppError } from '@cleanslate/contracts';
import { findStep, type OutgoingContext, toDoorbell } from '@cleanslate/domain/ledger';
import {
  type DoorbellKey,
  findLeftDoorbells,
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

/**
 * A step that nobody has claimed this long after its dispatch is looked at: its doorbell may be lost. Nearly all are
 * claimed within milliseconds, which says more than a PubAck, so that none is asked for before.
 */
const LEFT_AFTER_MS = 1_500;
const SWEEP_MS = 1_000;
/** So many are built and published at once: each from the whole state of its task, with all outputs. */
const LEFT_LIMIT = 100;
/**
 * The sweep waits for a PubAck for at most this long; then the doorbell is the next sweep's, which builds it from
 * its step as that is by then.
 */
const GIVE_UP_MS = 4_000;
/** The broker not having taken one for this long is worth telling. */
const OVERDUE_MS = 3_500;
/** One that was left is out of the sweep's sight for a while after a ring check. */
const UNSEEN_MS = 15_000;

export type DoorbellRelayOptions = {
  readonly context: Pick<LedgerContext, 'database' | 'plans' | 'epoch' | 'options'>;
  readonly publisher: Pick<Publisher, 'publish' | 'send'>;
  readonly isConnected: () => boolean;
  /** What the broker will never take; resolves once the ledger knows. */
  readonly onUnsendable: (doorbell: DueDoorbell, error: AppError) => Promise<void>;
  readonly onError: (error: unknown, name: string) => void;
};

/**
 * Rings the doorbells of dispatched steps: those of this process from memory as soon as they are committed, without a
 * PubAck (docs/decisions/0054), and those that nobody has answered a moment later from their steps, with one. A step
 * whose row names no stream sequence is a doorbell of which nobody knows that it hangs; a repeat has the same message
 * id: the broker says where the first one hangs, and where it does not recognize it any more, the claim does.
 */
export class DoorbellRelay {
  readonly #options: DoorbellRelayOptions;
  readonly #abort = new AbortController();
  /**
   * What the sweep found and no PubAck has come for since: when it did so first, and last, and whether somebody
   * heard that it can't be published.
   */
  readonly #left = new Map<string, { readonly since: number; readonly seen: number; readonly told: boolean }>();
  readonly #sweeper: Loop;

  constructor(options: DoorbellRelayOptions) {
    this.#options = options;
    const { onError } = options;
    this.#sweeper = new Loop({
      name: 'doorbell-sweeper',
      everyMs: SWEEP_MS,
      run: (signal) => this.#sweep(signal),
      onError,
    });
  }

  /**
   * How many doorbells the broker has not taken although they are long committed, and how long the oldest of
   * them has been seen so. Seconds.
   */
  get left(): { readonly count: number; readonly seconds: number } {
    const now = performance.now();
    const overdue = [...this.#left.values()].filter(({ since, told }) => told || now - since >= OVERDUE_MS);
    const since = Math.min(now, ...overdue.map((each) => each.since));
    return { count: overdue.length, seconds: overdue.length === 0 ? 0 : (now - since + LEFT_AFTER_MS) / 1_000 };
  }

  start(): void {
    this.#sweeper.start();
  }

  /** Looks at once for what was left: the broker is back. */
  wake(): void {
    this.#sweeper.wake();
  }

  /** Returns at once; their steps are committed. While the broker is away, the sweep has them. */
  send(doorbells: readonly DueDoorbell[], context: OutgoingContext): void {
    if (!this.#options.isConnected()) return;
    for (const doorbell of doorbells) {
      try {
        this.#options.publisher.send(toPublication(doorbell, context));
      } catch (error) {
        void this.#fail(doorbell, error);
      }
    }
  }

  async stop(): Promise<void> {
    const swept = this.#sweeper.stop();
    this.#abort.abort();
    await swept;
  }

  /** With its PubAck; undefined if there is none. */
  async #publish(doorbell: DueDoorbell, context: OutgoingContext): Promise<StoredDoorbell | undefined> {
    const { taskSeq, stepId, attempt, ring } = doorbell;
    try {
      const options = { signal: this.#abort.signal, giveUpAfterMs: GIVE_UP_MS };
      const { seq } = await this.#options.publisher.publish(toPublication(doorbell, context), options);
      this.#left.delete(nameOf(doorbell));
      return { taskSeq, stepId, attempt, ring, streamSequence: seq };
    } catch (error) {
      await this.#fail(doorbell, error);
      return undefined;
    }
  }

  async #fail(doorbell: DueDoorbell, error: unknown): Promise<void> {
    if (isAppError(error) && error.code === 'PAYLOAD_TOO_LARGE') await this.#giveUp(doorbell, error);
    // An outage: its step stays as it is, and the sweep finds it.
    else if (!isAppError(error) || error.code !== 'BROKER_UNAVAILABLE') this.#tell(doorbell, error);
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

  /**
   * Ends when they are published or given up, and noted: the next sweep finds none of them again. What can't be read or
   * sent holds up none behind it.
   */
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
      const loaded = await this.#load(doorbells);
      this.#forgetAnswered(doorbells, loaded);
      const stored = await Promise.all(loaded.map((doorbell) => this.#publish(doorbell, context)));
      await this.#note(stored.filter((each) => each !== undefined));
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

  /** Somebody claimed them, or their steps ended, between the two reads of a sweep. */
  #forgetAnswered(seen: readonly DoorbellKey[], due: readonly DoorbellKey[]): void {
    const names = new Set(due.map(nameOf));
    for (const name of seen.map(nameOf)) if (!names.has(name) && !this.#left.get(name)?.told) this.#left.delete(name);
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
   * Once, however often the sweep finds it again. Its step is not given up by who can't read its task: a scheduler of a
   * newer release beside this one may, and no decision is made without the state. Until then it counts as left, and,
   * its ring check overdue, as unaccounted for.
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

  async #note(stored: readonly StoredDoorbell[]): Promise<void> {
    if (stored.length === 0) return;
    const scope = { ...LEDGER_SCOPE, relaxedDurability: true };
    await withTransaction(this.#options.context.database, scope, (tx) => noteDoorbells(tx, stored));
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

function toPublication({ state, stepId }: DueDoorbell, context: OutgoingContext): Publication {
  const [doorbell] = toDoorbell(state, stepId, context);
  if (doorbell === undefined) throw new AppError('INTERNAL', `the plan of "${stepId}" has no such step`);
  const { subject, headers, messageId, envelope } = doorbell;
  return { stream: 'COMMANDS', subject, headers, messageId, body: Buffer.from(JSON.stringify(envelope)) };
}

function nameOf({ taskSeq, stepId, attempt, ring }: DoorbellKey): string {
  return `${taskSeq}/${stepId}/${attempt}/${ring}`;
}
