import { createHash } from 'node:crypto';

const MOST = 20_000;
const WINDOW_MS = 24 * 3_600_000;

/**
 * Whether a tenant has asked this before: the same words are the same question, in whatever order and punctuation.
 * Bounded, forgotten after a day, and only a hash of each question is kept. Every replica knows those that it answered.
 */
export class RecentQuestions {
  readonly #asked = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** True if it was asked within a day. It now counts as asked. */
  note(tenantId: string, query: string): boolean {
    const words =
      query
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [];
    const key = createHash('sha256')
      .update(`${tenantId}/${words.sort().join(' ')}`)
      .digest('base64');
    const before = this.#asked.get(key);
    const now = this.#now();
    // Asked last, forgotten last.
    this.#asked.delete(key);
    this.#asked.set(key, now);
    if (this.#asked.size > MOST) this.#asked.delete(this.#asked.keys().next().value ?? '');
    return before !== undefined && now - before < WINDOW_MS;
  }
}
