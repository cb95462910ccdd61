import { createHash } from 'node:crypto';
import { AppError } from '@cleanslate/contracts';
import { type Database, findApiKey, withTransaction } from '@cleanslate/store';
import { guessGuard } from './guess-guard.ts';

/** The caller of a request. The tenant comes from the credential and from nowhere else. */
export type Caller = { readonly tenantId: string; readonly keyId: string };

export type ApiKeys = {
  /**
   * `address`: the caller's. Throws `UNAUTHORIZED`, `DATABASE_UNAVAILABLE`, and `RATE_LIMITED` if one address tries
   * many keys.
   */
  authenticate(key: string, address: string): Promise<Caller>;
};

/** A revoked key may still be accepted for this long. */
const FRESH_MS = 5_000;
/**
 * While the database is away, keys that it confirmed this recently are still accepted: reads then report
 * for themselves what is away.
 */
const STALE_MS = 300_000;
const MOST_KEPT = 10_000;
/** Wrong keys from one address: each costs a database query. */
const GUESSES = { perSecond: 5, burst: 50 };

/** The keys of the database; answers are kept for a moment. */
export function openApiKeys(database: Database): ApiKeys {
  const kept = new Map<string, { readonly caller: Caller | undefined; readonly at: number }>();
  const guard = guessGuard(GUESSES);
  const asked = new Map<string, Promise<Caller | undefined>>();
  const look = (key: string) =>
    withTransaction(database, { role: 'cleanslate_gateway', readOnly: true }, (tx) => findApiKey(tx, key));
  const ask = async (key: string, id: string, address: string): Promise<Caller | undefined> => {
    const known = kept.get(id);
    const age = performance.now() - (known?.at ?? Number.NEGATIVE_INFINITY);
    if (known && age < FRESH_MS) return known.caller;
    try {
      const caller = await (known?.caller ? look(key) : guard(address, () => look(key)));
      kept.delete(id);
      // Guesses must not evict the keys that are in use.
      if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value ?? '');
      kept.set(id, { caller, at: performance.now() });
      return caller;
    } catch (error) {
      if (known?.caller && age < STALE_MS) return known.caller;
      throw error;
    }
  };
  /** Callers with the same key from the same place wait for the same answer. */
  const askOnce = (key: string, address: string): Promise<Caller | undefined> => {
    const id = createHash('sha256').update(key).digest('base64');
    const question = `${id} ${address}`;
    const answer = asked.get(question) ?? ask(key, id, address).finally(() => asked.delete(question));
    asked.set(question, answer);
    return answer;
  };
  return {
    authenticate: async (key, address) => {
      const caller = await askOnce(key, address);
      if (caller) return { tenantId: caller.tenantId, keyId: caller.keyId };
      throw refused('this API key is not known here, or no longer good');
    },
  };
}

/** The key of an `Authorization` header. Throws `UNAUTHORIZED`. */
export function readBearer(authorization: string | undefined): string {
  const [, key] = /^Bearer +([\x21-\x7e]{8,512})$/i.exec(authorization ?? '') ?? [];
  if (key === undefined)
    throw refused(authorization === undefined ? 'no API key was sent' : 'what was sent is not an API key');
  return key;
}

function refused(message: string): AppError {
  const remedy = 'send `Authorization: Bearer <API key>`; of a local stack, `slate page --key` prints it';
  return new AppError('UNAUTHORIZED', message, { details: { remedy } });
}
