export type Latency = { readonly p50: number; readonly p95: number; readonly p99: number };

export function toLatency(values: readonly number[]): Latency {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95), p99: percentile(values, 0.99) };
}

/** The value at or below which `share` (0…1) of the values lie; NaN for none. */
function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}
