import type { PullLoop } from '@cleanslate/bus';
import type { Logger } from '../log/logger.ts';

export type PullControlOptions = {
  readonly loop: PullLoop;
  readonly slots: number;
  readonly logger: Logger;
};

/**
 * Decides when a worker pulls: not while the ledger is silent or what all its executors need
 * is away, nor once it drains.
 */
export class PullControl {
  readonly #options: PullControlOptions;
  /** Most attempts in hand at once, by the breakers. */
  #room: number;
  #isLedgerSilent = false;
  #isDraining = false;

  constructor(options: PullControlOptions) {
    this.#options = options;
    this.#room = options.slots;
  }

  get isTaking(): boolean {
    return !this.#isDraining && !this.#isLedgerSilent && this.#room > 0;
  }

  /** Taking more doorbells would only withhold them from it. Heartbeats find out when it is back. */
  ledgerIsSilent(): void {
    if (this.#isLedgerSilent || this.#isDraining) return;
    this.#isLedgerSilent = true;
    this.#options.loop.pause();
    this.#options.logger.warn('claims are not answered: pulling stops until the scheduler answers a heartbeat');
  }

  ledgerAnswers(): void {
    if (!this.#isLedgerSilent || this.#isDraining) return;
    this.#isLedgerSilent = false;
    this.#options.logger.info('the scheduler answers again');
    this.#resume();
  }

  /** What the executors need is away (0), being probed (1), or back. */
  makeRoom(room: number): void {
    const { loop, slots, logger } = this.#options;
    this.#room = room;
    if (room === 0) logger.warn('a dependency is away: pulling stops for a while');
    else if (room === slots) logger.info('the dependency answers again');
    loop.pause();
    this.#resume();
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#options.loop.drain();
  }

  #resume(): void {
    if (this.isTaking) this.#options.loop.resume(this.#room);
  }
}
