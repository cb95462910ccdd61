import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, backoffMs, callEndpoint } from '@cleanslate/bus';
import {
  AppError,
  type DocumentRef,
  isAppError,
  ObjectGet,
  ObjectPut,
  ObjectRef,
  parseJson,
} from '@cleanslate/contracts';

/** Values too large for messages, kept by their SHA-256 in the ledger. */
export type ObjectStore = {
  /**
   * Throws `NOT_FOUND`, or `INTERNAL` if the bytes do not match the hash. Waits out an outage until the signal fires.
   */
  readonly get: (tenantId: string, sha256: string, signal: AbortSignal) => Promise<Uint8Array>;
  readonly put: (tenantId: string, bytes: Uint8Array, signal: AbortSignal) => Promise<ObjectRef>;
};

const OUTAGES = new Set(['REQUEST_TIMEOUT', 'BROKER_UNAVAILABLE', 'DATABASE_UNAVAILABLE']);
const BACKOFF = { firstMs: 200, maxMs: 5_000 };
const CALL_TIMEOUT_MS = 10_000;

export function objectStoreOf(bus: Bus, source: string): ObjectStore {
  const options = { source, timeoutMs: CALL_TIMEOUT_MS };
  return {
    get: async (tenantId, sha256, signal) => {
      const { base64 } = await outlast(() => callEndpoint(bus, ObjectGet, tenantId, { sha256 }, options), signal);
      const bytes = Buffer.from(base64, 'base64');
      if (sha256Of(bytes) === sha256) return bytes;
      throw new AppError('INTERNAL', `object ${sha256} came back with other bytes`);
    },
    put: async (tenantId, bytes, signal) => {
      const base64 = Buffer.from(bytes).toString('base64');
      const stored = await outlast(() => callEndpoint(bus, ObjectPut, tenantId, { base64 }, options), signal);
      return { $object: stored.sha256, bytes: stored.bytes };
    },
  };
}

export async function readDocument(
  store: ObjectStore,
  tenantId: string,
  ref: DocumentRef,
  signal: AbortSignal,
): Promise<string> {
  const bytes = await store.get(tenantId, ref.sha256, signal);
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

/**
 * Whether there may be something to resolve: most inputs contain nothing that was stored, and need not be traversed.
 */
export function holdsObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return '$object' in value || Object.values(value).some(holdsObject);
}

/** A value with every `ObjectRef` in it replaced by what it refers to. */
export async function resolveObjects(
  store: ObjectStore,
  tenantId: string,
  value: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if ('$object' in value) {
    const ref = ObjectRef.safeParse(value);
    if (ref.success) return parseJson(await store.get(tenantId, ref.data.$object, signal), 'object');
  }
  if (Array.isArray(value)) {
    return Promise.all(value.map((item) => resolveObjects(store, tenantId, item, signal)));
  }
  const entries = Object.entries(value).map(
    async ([key, item]) => [key, await resolveObjects(store, tenantId, item, signal)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** An outage of broker or ledger must not cost the step an attempt. */
export async function outlast<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!isAppError(error) || !OUTAGES.has(error.code)) throw error;
      await sleep(backoffMs(tries, BACKOFF), undefined, { signal }).catch(() => undefined);
    }
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
