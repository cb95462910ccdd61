import { AppError } from '@cleanslate/contracts';

export type StreamLimits = {
  /** Most event streams open at once, of all tenants. */
  readonly maxStreams: number;
  /** Of one tenant, so that none takes the others' place. */
  readonly maxStreamsPerTenant: number;
};

/**
 * Returns a function that takes a place for one stream, and gives it back when called. Throws `RATE_LIMITED` if there
 * is none.
 */
export function streamSlots({ maxStreams, maxStreamsPerTenant }: StreamLimits): (tenantId: string) => () => void {
  let open = 0;
  const openOf = new Map<string, number>();
  return (tenantId) => {
    const own = openOf.get(tenantId) ?? 0;
    if (own >= maxStreamsPerTenant) throw full(`your tenant has ${own} event streams open here, as many as it may`);
    if (open >= maxStreams) throw full(`${open} event streams are open here`);
    open++;
    openOf.set(tenantId, own + 1);
    return () => {
      open--;
      const left = (openOf.get(tenantId) ?? 1) - 1;
      // Tenants that left no stream leave no entry.
      if (left === 0) openOf.delete(tenantId);
      else openOf.set(tenantId, left);
    };
  };
}

function full(what: string): AppError {
  return new AppError('RATE_LIMITED', `${what}: close some, or try again later`, { retryAfterMs: 5_000 });
}
