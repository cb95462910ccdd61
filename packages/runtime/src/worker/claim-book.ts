import type { Fence } from '@cleanslate/contracts';
import type { Claim, ReportedClaim, StoredReport } from './claim.ts';

/**
 * The claims of one worker by claim id, as the ledger names them; an attempt has one here, by which a second doorbell
 * is recognised.
 */
export class ClaimBook {
  readonly #active = new Map<string, Claim>();
  readonly #reported = new Map<string, ReportedClaim>();

  add(claim: Claim): void {
    this.#active.set(claim.fence.claimId, claim);
  }

  /** Its report is stored. Does nothing if the ledger has given the claim up meanwhile. */
  report(claim: Claim, { body, saying }: StoredReport): void {
    const { fence, trace } = claim;
    if (!this.#active.delete(fence.claimId)) return;
    this.#reported.set(fence.claimId, { fence, body, saying, trace, storedAt: performance.now(), repeats: 0 });
  }

  remove({ fence }: { readonly fence: Fence }): void {
    this.#active.delete(fence.claimId);
    this.#reported.delete(fence.claimId);
  }

  has(claimId: string): boolean {
    return this.#active.has(claimId) || this.#reported.has(claimId);
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
