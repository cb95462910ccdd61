import type { AttemptRef, Fence } from '@cleanslate/contracts';
import { attemptKey, type Claim, type ReportedClaim } from './claim.ts';

/** The claims of one worker: by attempt, so that a second doorbell is known, and by claim id, as the ledger names them. */
export class ClaimBook {
  readonly #attempts = new Set<string>();
  readonly #active = new Map<string, Claim>();
  readonly #reported = new Map<string, ReportedClaim>();

  add(claim: Claim): void {
    this.#attempts.add(attemptKey(claim.fence));
    this.#active.set(claim.fence.claimId, claim);
  }

  /** Its report is stored. Nothing to do where the ledger has given the claim up meanwhile. */
  report(claim: Claim, body: Uint8Array): void {
    const { fence, trace } = claim;
    if (!this.#active.delete(fence.claimId)) return;
    this.#reported.set(fence.claimId, { fence, body, trace, storedAt: performance.now(), repeats: 0 });
  }

  remove({ fence }: { readonly fence: Fence }): void {
    this.#attempts.delete(attemptKey(fence));
    this.#active.delete(fence.claimId);
    this.#reported.delete(fence.claimId);
  }

  has(attempt: AttemptRef): boolean {
    return this.#attempts.has(attemptKey(attempt));
  }

  findActive(claimId: string): Claim | undefined {
    return this.#active.get(claimId);
  }

  findReported(claimId: string): ReportedClaim | undefined {
    return this.#reported.get(claimId);
  }

  active(): Claim[] {
    return [...this.#active.values()];
  }

  running(): Fence[] {
    const fences: Fence[] = [];
    for (const claim of this.#active.values()) if (claim.state === 'running') fences.push(claim.fence);
    return fences;
  }

  get reportedCount(): number {
    return this.#reported.size;
  }

  /** The oldest first, at most `most`. */
  reported(most = Number.POSITIVE_INFINITY): ReportedClaim[] {
    const claims: ReportedClaim[] = [];
    for (const claim of this.#reported.values()) {
      if (claims.length >= most) break;
      claims.push(claim);
    }
    return claims;
  }
}
