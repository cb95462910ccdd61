import { type AppError, isAppError } from '@cleanslate/contracts';

const AGAIN_MS = 500;

/**
 * Compares the database with what the streams tell of it, at the start and again for every new connection: the server
 * behind that may be a standby which never got what the one before had committed.
 */
export class AgeWatch {
  readonly #compare: () => Promise<void>;
  readonly #behind = Promise.withResolvers<AppError>();
  #isDoubtful = true;

  /** `compare` throws `LEDGER_BEHIND_STREAM` where the streams tell of more, and anything else where it can't say. */
  constructor(compare: () => Promise<void>) {
    this.#compare = compare;
  }

  /** What it threw once the database was behind: nothing may go on then. */
  get behind(): Promise<AppError> {
    return this.#behind.promise;
  }

  /** A connection is new. */
  doubt(): void {
    this.#isDoubtful = true;
  }

  /** Throws what the comparison threw; nothing is compared where there is no doubt. */
  async check(): Promise<void> {
    if (!this.#isDoubtful) return;
    this.#isDoubtful = false;
    try {
      await this.#compare();
    } catch (error) {
      this.#isDoubtful = true;
      if (isAppError(error) && error.code === 'LEDGER_BEHIND_STREAM') this.#behind.resolve(error);
      throw error;
    }
  }
}

/** Asks again for as long as the broker is away. */
export async function untilBrokerAnswers<T>(ask: () => Promise<T>, onWait: (error: unknown) => void): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isAppError(error) || !['BROKER_UNAVAILABLE', 'REQUEST_TIMEOUT'].includes(error.code)) throw error;
      onWait(error);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
