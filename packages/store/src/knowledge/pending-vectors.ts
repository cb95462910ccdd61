import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

/**
 * A vector follows its version within a second; many versions at once take longer, and then nobody waits for all of
 * them. A requester on the bus waits five seconds for an answer.
 */
const WAIT_MS = 2_000;
/** The first pause between two looks; each further one is twice as long, up to the last. */
const PAUSE_MS = { first: 50, last: 400 };

/**
 * How many of the versions believed at a revision a search in this space can't find by their vectors yet, counted up to
 * a thousand; the tenant is the transaction's.
 */
export async function countPendingVectors(tx: Tx, space: string, revision: number): Promise<number> {
  const { rows } = await tx.query<{ pending: number }>('SELECT knowledge.count_pending_vectors($1, $2) AS pending', [
    space,
    revision,
  ]);
  return rows[0]?.pending ?? 0;
}

/**
 * Looks until nothing is pending, for two seconds at most, each time in a transaction of its own. Returns what is still
 * pending; throws the signal's reason.
 */
export async function awaitVectors(look: () => Promise<number>, signal?: AbortSignal): Promise<number> {
  const until = performance.now() + WAIT_MS;
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.last)) {
    const pending = await look();
    const leftMs = until - performance.now();
    if (pending === 0 || leftMs <= 0) return pending;
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/** A pinned search must find the same each time: in an outage, and while vectors are still missing, it is refused. */
export function notEmbeddedYet(pending: number): AppError {
  return new AppError(
    'EMBEDDINGS_UNAVAILABLE',
    `${pending} facts of this revision have no vectors yet, and a pinned search must find the same each time: ask again later, or at an earlier revision`,
  );
}

/** Every version up to here has its vector in the space, or can't have one. */
export async function saveEmbeddedUntil(tx: Tx, space: string, factSeq: number): Promise<void> {
  await tx.query('UPDATE knowledge.embedding_spaces SET embedded_until = $2 WHERE space = $1 AND embedded_until < $2', [
    space,
    factSeq,
  ]);
}
