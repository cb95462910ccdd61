import type { RetryPolicy } from '@cleanslate/contracts';

/**
 * Exponential back-off with jitter in [0.5, 1] of the full delay. The jitter is a hash of what is retried, so that the
 * decision stays deterministic while a burst of failures still spreads out.
 */
export function backoffMs(policy: RetryPolicy, spent: number, seed: string, retryAfterMs = 0): number {
  const full = Math.min(policy.maxMs, policy.baseMs * 2 ** Math.min(spent, 30));
  const jittered = Math.round(full * (0.5 + 0.5 * unitHash(seed)));
  return Math.max(jittered, retryAfterMs);
}

/** FNV-1a, scaled to [0, 1). */
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash / 2 ** 32;
}
