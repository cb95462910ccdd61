import { createEraser } from '@cleanslate/domain';
import {
  confirmRedaction,
  type Database,
  type ErasedRedaction,
  eraseCandidates,
  findErased,
  findSayingCandidates,
  lockKnowledge,
  sampleAnew,
  withTransaction,
} from '@cleanslate/store';

const MAINTAINER = { role: 'cleanslate_maintainer' } as const;
const PAGE = 500;
const SCAN_MS = 300_000;

/** The end of redactions: what the scheduler is done with is looked for once more among candidates that became nothing, then forgotten, in the planner's samples as well. Returns whether more is left. */
export async function confirmErasures(database: Database): Promise<boolean> {
  const [erased] = await withTransaction(database, { ...MAINTAINER, readOnly: true }, (tx) => findErased(tx, 1));
  if (erased === undefined) return false;
  for (let after: number | null = 0; after !== null; ) after = await sweepCandidates(database, erased, after);
  await withTransaction(database, { ...MAINTAINER, queryTimeoutMs: SCAN_MS }, sampleAnew);
  await withTransaction(database, MAINTAINER, async (tx) => {
    await lockKnowledge(tx);
    await confirmRedaction(tx, erased);
  });
  return true;
}

/** One page of them; returns where the next begins, null at the end. */
async function sweepCandidates(database: Database, erased: ErasedRedaction, after: number): Promise<number | null> {
  const eraser = createEraser(erased);
  const found = await withTransaction(database, { ...MAINTAINER, readOnly: true, queryTimeoutMs: SCAN_MS }, (tx) =>
    findSayingCandidates(tx, erased, after, PAGE),
  );
  const changed = found.flatMap((candidate) => {
    const body = eraser.json(candidate.body);
    return body === candidate.body ? [] : [{ candidateId: candidate.candidateId, body }];
  });
  if (changed.length > 0)
    await withTransaction(database, MAINTAINER, async (tx) => {
      const head = await lockKnowledge(tx);
      await eraseCandidates(tx, erased.tenantId, changed, head.now, head.revision);
    });
  return found.length < PAGE ? null : (found.at(-1)?.seq ?? null);
}
