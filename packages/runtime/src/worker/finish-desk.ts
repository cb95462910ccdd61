import { type Bus, request } from '@cleanslate/bus';
import {
  type ClaimAnswer,
  ClaimReply,
  ClaimWithReport,
  decodeFromService,
  encodeMessage,
  isAppError,
  type StepReport,
  subjects,
} from '@cleanslate/contracts';
import type { Claim } from './claim.ts';
import type { WorkerIdentity } from './identity.ts';

export type FinishDeskOptions = {
  readonly bus: Bus;
  readonly identity: WorkerIdentity;
  /**
   * Milliseconds, default 3 s: together with the claim that is asked for instead, it fits into the doorbell's ack wait
   * of 15 s.
   */
  readonly timeoutMs?: number;
  readonly onFailure: (error: unknown) => void;
};

export type Succeeded = Extract<StepReport, { outcome: 'succeeded' }>;
type Finished = {
  readonly report: ClaimWithReport['finished'][number];
  readonly size: number;
  readonly resolve: (answer: FinishAnswer) => void;
};
/** `unanswered`: its outcome is unknown, or it has to go the long way; asking for the claim finds out. */
export type FinishAnswer = Exclude<ClaimAnswer['answer'], 'busy'> | 'unanswered';

const MAX_BATCH = 500;
/**
 * Limits on the outputs of one request, and on one output; larger ones travel as stored reports. In characters, each of
 * which has three bytes at most.
 */
const MAX_CHARACTERS = 128 * 1024;
const MAX_OUTPUT = 32 * 1024;
/** A scheduler that does not know the message is not sent it again for this long. */
const UNKNOWN_MS = 60_000;

/** The scheduler is older than this message; for a body that breaks a schema it knows, it would say where. */
function isUnknownMessage(error: unknown): boolean {
  return isAppError(error) && error.code === 'SCHEMA_MISMATCH' && error.details?.['issues'] === undefined;
}

/** Something in the body: nested too deeply, or a value that no schema accepts. */
function isBodyFault(error: unknown): boolean {
  if (!isAppError(error)) return false;
  return error.code === 'UNPARSEABLE' || (error.code === 'SCHEMA_MISMATCH' && !isUnknownMessage(error));
}

/**
 * Hands in the results of `pure` attempts together with the requests for their claims. Those of one tick travel in one
 * request.
 */
export class FinishDesk {
  readonly #options: FinishDeskOptions;
  #waiting: Finished[] = [];
  #closedUntil = 0;

  constructor(options: FinishDeskOptions) {
    this.#options = options;
  }

  get open(): boolean {
    return performance.now() >= this.#closedUntil;
  }

  /** Never rejects. */
  hand(claim: Claim, { output, usage, candidates }: Succeeded): Promise<FinishAnswer> {
    return new Promise((resolve) => {
      const size = JSON.stringify(output).length;
      if (candidates.length > 0 || size > MAX_OUTPUT) return resolve('unanswered');
      this.#waiting.push({ report: { fence: claim.fence, output, usage }, size, resolve });
      if (this.#waiting.length === 1) this.#options.bus.soon(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    let batch: Finished[] = [];
    let size = 0;
    for (const finished of waiting) {
      if (batch.length === MAX_BATCH || size + finished.size > MAX_CHARACTERS) {
        void this.#send(batch);
        batch = [];
        size = 0;
      }
      batch.push(finished);
      size += finished.size;
    }
    void this.#send(batch);
  }

  async #send(batch: readonly Finished[]): Promise<void> {
    const answers = new Map<string, ClaimAnswer['answer']>();
    try {
      for (const { claimId, answer } of await this.#request(batch)) answers.set(claimId, answer);
    } catch (error) {
      if (isUnknownMessage(error)) this.#closedUntil = performance.now() + UNKNOWN_MS;
      this.#options.onFailure(error);
      // One of them is at fault: the others must not share its fate. By itself it goes the long way, where it becomes a
      // dead letter.
      if (isBodyFault(error) && batch.length > 1) {
        const middle = Math.ceil(batch.length / 2);
        await Promise.all([this.#send(batch.slice(0, middle)), this.#send(batch.slice(middle))]);
        return;
      }
    }
    for (const { report, resolve } of batch) {
      const answer = answers.get(report.fence.claimId);
      resolve(answer === undefined || answer === 'busy' ? 'unanswered' : answer);
    }
  }

  async #request(batch: readonly Finished[]): Promise<readonly ClaimAnswer[]> {
    const { bus, identity, timeoutMs = 3_000 } = this.#options;
    const { workerId, role } = identity;
    const data = { worker: workerId, role, finished: batch.map(({ report }) => report) };
    const body = encodeMessage(ClaimWithReport, identity.envelope(), data);
    const reply = await request(bus, subjects.claim(role), body, { timeoutMs });
    return decodeFromService([ClaimReply], reply).envelope.data.answers;
  }
}
