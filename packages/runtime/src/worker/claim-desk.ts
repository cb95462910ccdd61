import { type Bus, backoffMs, request } from '@cleanslate/bus';
import {
  type ClaimAnswer,
  ClaimReply,
  ClaimRequest,
  decodeFromService,
  encodeMessage,
  type Fence,
  subjects,
} from '@cleanslate/contracts';
import type { WorkerIdentity } from './identity.ts';

export type ClaimDeskOptions = {
  readonly bus: Bus;
  readonly identity: WorkerIdentity;
  /**
   * How long one answer may take. Milliseconds, default 3 s: shorter than the doorbell's ack wait, which each further
   * try restarts.
   */
  readonly timeoutMs?: number;
  readonly onFailure: (error: unknown) => void;
};

export type ClaimOutcome = ClaimAnswer | 'unanswered';

const TRIES = 4;
const MAX_BATCH = 500;
const AGAIN = { firstMs: 100, maxMs: 1_000 };

type Asked = {
  readonly fence: Fence;
  readonly onAgain: () => void;
  readonly resolve: (outcome: ClaimOutcome) => void;
  tries: number;
};

/**
 * Asks for claims. Those wanted in the same tick travel in one request. After `busy`, an error or silence it asks
 * again, up to three times, with the same claim id, which can't make a second claim.
 */
export class ClaimDesk {
  readonly #options: ClaimDeskOptions;
  #waiting: Asked[] = [];
  #scheduled = false;

  constructor(options: ClaimDeskOptions) {
    this.#options = options;
  }

  /** `onAgain` is called for each further try. Never rejects. */
  ask(fence: Fence, onAgain: () => void = () => undefined): Promise<ClaimOutcome> {
    return new Promise((resolve) => this.#enqueue({ fence, tries: 0, onAgain, resolve }));
  }

  #enqueue(asked: Asked): void {
    this.#waiting.push(asked);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.bus.soon(() => {
      this.#scheduled = false;
      const batch = this.#waiting;
      this.#waiting = [];
      for (let i = 0; i < batch.length; i += MAX_BATCH) void this.#send(batch.slice(i, i + MAX_BATCH));
    });
  }

  async #send(batch: readonly Asked[]): Promise<void> {
    const answers = new Map<string, ClaimAnswer>();
    try {
      for (const answer of await this.#request(batch)) answers.set(answer.claimId, answer);
    } catch (error) {
      this.#options.onFailure(error);
    }
    const again: Asked[] = [];
    for (const asked of batch) {
      const answer = answers.get(asked.fence.claimId);
      if (answer !== undefined && answer.answer !== 'busy') asked.resolve(answer);
      else if (++asked.tries >= TRIES) asked.resolve(answer ?? 'unanswered');
      else {
        asked.onAgain();
        again.push(asked);
      }
    }
    const [first] = again;
    if (first === undefined) return;
    setTimeout(
      () => {
        for (const asked of again) this.#enqueue(asked);
      },
      backoffMs(first.tries, AGAIN),
    );
  }

  async #request(batch: readonly Asked[]): Promise<ClaimAnswer[]> {
    const { bus, identity, timeoutMs = 3_000 } = this.#options;
    const { workerId, role } = identity;
    const claims = batch.map((asked) => asked.fence);
    const body = encodeMessage(ClaimRequest, identity.envelope(), { worker: workerId, role, claims });
    const reply = await request(bus, subjects.claim(role), body, { timeoutMs });
    return decodeFromService([ClaimReply], reply).envelope.data.answers;
  }
}
