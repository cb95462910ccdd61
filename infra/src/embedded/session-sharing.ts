import { buildMessage, buildQuery, splitMessages } from './wire.ts';

/** What the one database session offers: bytes of whole protocol messages in, the answer's bytes out. */
export interface RawSession {
  execute(messages: Buffer): Promise<Buffer>;
}

/** One client as the session sees it. */
export interface SessionClient {
  /** The next messages to execute together, taken off its queue, if any; after it has gone, those that tidy up. */
  takeUnit(): Buffer | undefined;
  readonly isGone: boolean;
  answer(bytes: Buffer): void;
  /** The client holds the session and keeps everyone waiting: it is cut off. */
  evict(): void;
}

type Status = 'idle' | 'transaction' | 'unfinished';

/**
 * Lends the one session to one client at a time: from its first message to the first "ready for query" outside a
 * transaction. So the messages of two clients never mix inside an unnamed statement or a transaction. A client that
 * disappears, also in the middle of a transaction, gives it back with a rollback.
 */
export class SessionSharing {
  readonly #session: RawSession;
  readonly #idleInTransactionMs: number;
  readonly #waiting = new Set<SessionClient>();
  #holder: SessionClient | undefined;
  #status: Status = 'idle';
  #isRunning = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(session: RawSession, idleInTransactionMs: number) {
    this.#session = session;
    this.#idleInTransactionMs = idleInTransactionMs;
  }

  /** To be called when the client has a unit, and when it has gone. Rejects only if the session itself breaks. */
  async notify(client: SessionClient): Promise<void> {
    this.#waiting.add(client);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (await this.#step()) {}
    } finally {
      this.#isRunning = false;
    }
    if (this.#holder && !this.#idleTimer) this.#watchHolder(this.#holder);
  }

  async #step(): Promise<boolean> {
    if (this.#holder?.isGone) {
      await this.#abandon(this.#holder);
      return true;
    }
    const client = this.#holder ?? this.#waiting.values().next().value;
    if (client === undefined) return false;
    const unit = client.takeUnit();
    if (unit === undefined) {
      this.#waiting.delete(client);
      return this.#holder === undefined;
    }
    // To the back of the queue, so that a busy client doesn't starve the others.
    this.#waiting.delete(client);
    this.#waiting.add(client);
    this.#holder = client;
    this.#stopWatching();
    const answer = await this.#session.execute(unit);
    client.answer(answer);
    this.#status = readStatus(answer);
    if (this.#status === 'idle') this.#holder = undefined;
    return true;
  }

  async #abandon(client: SessionClient): Promise<void> {
    // Outside a transaction block a Sync would commit what the client left unfinished; an error first makes it abort.
    await this.#session.execute(Buffer.concat([buildMessage('P', '', '!', Buffer.alloc(2)), buildMessage('S')]));
    if (this.#status === 'transaction') await this.#session.execute(buildQuery('ROLLBACK'));
    this.#status = 'idle';
    this.#holder = undefined;
    this.#stopWatching();
    this.#waiting.add(client);
  }

  #watchHolder(holder: SessionClient): void {
    this.#idleTimer = setTimeout(() => holder.evict(), this.#idleInTransactionMs);
    this.#idleTimer.unref();
  }

  #stopWatching(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }
}

function readStatus(answer: Buffer): Status {
  const last = splitMessages(answer).messages.at(-1);
  if (last?.type !== 'Z') return 'unfinished';
  return last.bytes.toString('latin1', 5, 6) === 'I' ? 'idle' : 'transaction';
}
