import { AppError, Candidate, isAppError } from '@cleanslate/contracts';
import { createEraser, type Eraser, toTombstone, WriteDraft } from '@cleanslate/domain';
import {
  confirmRedaction,
  type Database,
  type ErasedRedaction,
  eraseCandidates,
  findErased,
  findSayingCandidates,
  lockKnowledge,
  type SayingCandidate,
  sampleAnew,
  takeRedactionKey,
  withTransaction,
} from '@cleanslate/store';
import { eraseCopies, findCopies } from './redacted-copies.ts';
import { writeBatch } from './write-batch.ts';

const MAINTAINER = { role: 'cleanslate_maintainer' } as const;
const PAGE = 500;
const SCAN_MS = 300_000;
/** Most redactions of one round: more than ever fail at once. */
const MOST = 1_000;

/**
 * The end of redactions: what the scheduler has finished is searched once more among candidates that became nothing and
 * in what belongs to other facts, then forgotten, in the planner's samples as well. One that fails holds up no other:
 * it goes to `onError` and is tried again. `signal` ends the round between two of them. Returns whether more may be
 * left to do. Throws `DATABASE_UNAVAILABLE` in an outage, which affects them all: the rest would wait for the same
 * database one after the other.
 */
export async function confirmErasures(
  database: Database,
  onError: (error: unknown) => void,
  signal?: AbortSignal,
): Promise<boolean> {
  const look = (limit: number) =>
    withTransaction(database, { ...MAINTAINER, readOnly: true }, (tx) => findErased(tx, limit));
  const erased = await look(MOST);
  let confirmed = 0;
  for (const each of erased) {
    if (signal?.aborted) return false;
    try {
      await confirm(database, each);
      confirmed++;
    } catch (cause) {
      // One scan that takes too long looks like an outage as well, but concerns that redaction alone: does the database
      // answer?
      if (isAppError(cause) && cause.disposition === 'retryable') await look(1);
      onError(new AppError('INTERNAL', `redaction ${each.redactionId} can't be confirmed yet`, { cause }));
    }
  }
  return confirmed > 0;
}

async function confirm(database: Database, erased: ErasedRedaction): Promise<void> {
  for (let after: number | null = 0; after !== null; ) after = await sweepCandidates(database, erased, after);
  await sweepCopies(database, erased);
  await withTransaction(database, { ...MAINTAINER, queryTimeoutMs: SCAN_MS }, sampleAnew);
  await withTransaction(database, MAINTAINER, async (tx) => {
    await lockKnowledge(tx);
    await confirmRedaction(tx, erased);
  });
}

/** One page of them; returns where the next begins, null at the end. */
async function sweepCandidates(database: Database, erased: ErasedRedaction, after: number): Promise<number | null> {
  const eraser = createEraser(erased);
  const found = await withTransaction(database, { ...MAINTAINER, readOnly: true, queryTimeoutMs: SCAN_MS }, (tx) =>
    findSayingCandidates(tx, erased, after, PAGE),
  );
  const changed = found.flatMap((candidate) => toErased(candidate, eraser));
  if (changed.length > 0)
    await withTransaction(database, MAINTAINER, async (tx) => {
      const head = await lockKnowledge(tx);
      await eraseCandidates(tx, erased.tenantId, changed, head.now, head.revision);
    });
  return found.length < PAGE ? null : (found.at(-1)?.seq ?? null);
}

/**
 * A candidate without the words; nothing if it has none of them. One that could not be read afterwards becomes a
 * tombstone.
 */
function toErased({ candidateId, body, reason }: SayingCandidate, eraser: Eraser) {
  const erased = eraser.json(body);
  const why = reason === null ? null : eraser.text(reason);
  if (erased === body && why === reason) return [];
  const kept = Candidate.safeParse(erased).data ?? toTombstone(Candidate.safeParse(body).data ?? null);
  return [{ candidateId, body: kept, reason: why }];
}

/** What was written with other facts since the redaction. */
async function sweepCopies(database: Database, erased: ErasedRedaction): Promise<void> {
  const { tenantId, phrases } = erased;
  const eraser = createEraser(erased);
  const found = await withTransaction(database, { ...MAINTAINER, readOnly: true, queryTimeoutMs: SCAN_MS }, (tx) =>
    findCopies(tx, tenantId, phrases, eraser),
  );
  if (found.disputes.length + found.notes.length === 0) return;
  await withTransaction(database, MAINTAINER, async (tx) => {
    const head = await lockKnowledge(tx);
    const written = await writeBatch(
      tx,
      head,
      new WriteDraft([]),
      found.disputes.some(({ open }) => open),
    );
    await eraseCopies(tx, tenantId, found, await takeRedactionKey(tx, tenantId), written);
  });
}
