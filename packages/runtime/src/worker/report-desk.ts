import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, backoffMs, type Publisher } from '@cleanslate/bus';
import { isAppError, type StepReport, subjects, toReportId } from '@cleanslate/contracts';
import type { Logger } from '../log/logger.ts';
import type { Claim, ReportedClaim, StoredReport } from './claim.ts';
import { encodeReport } from './step-report.ts';
import { tooLarge } from './step-runner.ts';

export type ReportDeskOptions = {
  readonly bus: Bus;
  readonly publisher: Publisher;
  readonly role: string;
  readonly source: string;
  readonly logger: Logger;
};

const AGAIN = { firstMs: 500, maxMs: 10_000 };

/** Stores reports. One that can't be stored keeps its claim, and is tried again for as long as the process lives. */
export class ReportDesk {
  readonly #options: ReportDeskOptions;
  readonly #giveUp = new AbortController();
  /** When each unsent report was handed in, the oldest first. */
  readonly #storing = new Map<Claim, number>();
  /**
   * Numbers what is said: a claim may come again, where its tenant was removed and added anew, and the stream
   * remembers how it ended before.
   */
  #sayings = 0;

  constructor(options: ReportDeskOptions) {
    this.#options = options;
  }

  /** How long the oldest report has been waiting for its PubAck. Milliseconds; 0 if none waits. */
  get waitingMs(): number {
    const [oldest] = this.#storing.values();
    return oldest === undefined ? 0 : performance.now() - oldest;
  }

  /** Resolves once the PubAck came; to undefined when `giveUp` ended it. Never rejects. */
  async store(claim: Claim, report: StepReport): Promise<StoredReport | undefined> {
    this.#storing.set(claim, performance.now());
    try {
      return await this.#store(claim, report);
    } finally {
      this.#storing.delete(claim);
    }
  }

  async #store(claim: Claim, report: StepReport): Promise<StoredReport | undefined> {
    const { bus, source, logger } = this.#options;
    const saying = ++this.#sayings;
    let body = encodeReport(claim.fence, source, report);
    if (body.length > bus.maxPayload - 4 * 1024) body = encodeReport(claim.fence, source, tooLarge(body.length));
    for (let tries = 1; !this.#giveUp.signal.aborted; tries++) {
      try {
        await this.#publish(claim, body, { saying });
        return { body, saying };
      } catch (error) {
        // Refused for good (a missing permission, most likely): someone will repair it, and the work is done.
        if (!this.#giveUp.signal.aborted) logger.error({ err: error, task: claim.fence.taskId }, 'report not stored');
        const tooBig = isAppError(error) && error.code === 'PAYLOAD_TOO_LARGE';
        if (tooBig) body = encodeReport(claim.fence, source, tooLarge(body.length));
        await sleep(backoffMs(tries, AGAIN), undefined, { signal: this.#giveUp.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  /**
   * Repeats a stored report about which the ledger is silent. First under the same message id: a scheduler that is
   * merely behind must not get it twice. Then as another `saying`: the stream may have lost the first one and still
   * remember its id.
   */
  async repeat(claim: ReportedClaim): Promise<void> {
    claim.storedAt = performance.now();
    claim.repeats++;
    const saying = claim.repeats === 1 ? claim.saying : ++this.#sayings;
    await this.#publish(claim, claim.body, { giveUpAfterMs: 10_000, saying }).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, task: claim.fence.taskId }, 'report not repeated');
    });
  }

  /** Stops trying to store reports: the process is about to exit. */
  giveUp(): void {
    this.#giveUp.abort();
  }

  async #publish(
    claim: Pick<Claim, 'fence' | 'trace'>,
    body: Uint8Array,
    { saying, giveUpAfterMs }: { readonly saying: number; readonly giveUpAfterMs?: number },
  ): Promise<void> {
    const { tenantId, taskId } = claim.fence;
    const publication = {
      stream: 'REPORTS',
      subject: subjects.report(this.#options.role, tenantId, taskId),
      body,
      messageId: toReportId(claim.fence, saying),
      headers: claim.trace,
    };
    const { signal } = this.#giveUp;
    await this.#options.publisher.publish(
      publication,
      giveUpAfterMs === undefined ? { signal } : { signal, giveUpAfterMs },
    );
  }
}
