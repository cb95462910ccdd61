import {
  AppError,
  type FactAsOf,
  type FactGet,
  type FactHistory,
  type Pin,
  type RequestOf,
  type ValueOf,
} from '@cleanslate/contracts';
import { findFactAt, findFactHistory, findRevisionAt, getLastRevision, listFactsAt, type Tx } from '@cleanslate/store';

type PinQuery = Partial<Pick<RequestOf<typeof FactGet>, 'validAt' | 'revision' | 'knownAt'>>;

export async function findFact(
  tx: Tx,
  query: RequestOf<typeof FactGet>,
  tenantId: string,
): Promise<ValueOf<typeof FactGet>> {
  const pin = await resolvePin(tx, query);
  const fact = await findFactAt(tx, tenantId, pin, query.knowledgeId);
  if (fact) return { fact, revision: pin.revision };
  // Nobody is sent to a history that is just as empty.
  if ((await findFactHistory(tx, tenantId, query.knowledgeId, pin.revision)).length === 0)
    throw unknownFact(query.knowledgeId);
  const where = `${query.knowledgeId} at ${pin.validAt}, revision ${pin.revision}`;
  throw new AppError(
    'NOT_FOUND',
    `no version holds for ${where}: \`slate fact history ${query.knowledgeId}\` shows all`,
  );
}

export async function findHistory(
  tx: Tx,
  query: RequestOf<typeof FactHistory>,
  tenantId: string,
): Promise<ValueOf<typeof FactHistory>> {
  // Before the versions: what is written in between must not look older than the revision says.
  const { validAt, revision } = await resolvePin(tx, query);
  const versions = await findFactHistory(tx, tenantId, query.knowledgeId, revision);
  if (versions.length === 0) throw unknownFact(query.knowledgeId);
  const holds = (from: string | null, until: string | null) =>
    query.validAt === undefined || ((from === null || from <= validAt) && (until === null || until > validAt));
  const asked = versions.filter((view) => view.revisionFrom <= revision && holds(view.validFrom, view.validUntil));
  // What ended after the revision was believed at it: the same question must get the same answer later.
  const known = asked.map((view) => ((view.revisionUntil ?? 0) > revision ? { ...view, revisionUntil: null } : view));
  return { versions: known, revision };
}

export function unknownFact(knowledgeId: string): AppError {
  const remedy =
    'check its spelling; facts come in by `slate fact import`, and `slate fact as-of` lists those that hold';
  return new AppError('NOT_FOUND', `this tenant has no fact ${knowledgeId}: ${remedy}`, {
    details: { where: knowledgeId, remedy },
  });
}

export async function findFactsAsOf(
  tx: Tx,
  query: RequestOf<typeof FactAsOf>,
  tenantId: string,
): Promise<ValueOf<typeof FactAsOf>> {
  const pin = await resolvePin(tx, query);
  const limit = query.limit ?? 200;
  const facts = await listFactsAt(tx, tenantId, pin, {
    limit,
    ...(query.prefix === undefined ? {} : { idPrefix: query.prefix }),
    ...(query.after === undefined ? {} : { after: query.after }),
  });
  return { facts, revision: pin.revision, next: facts.length === limit ? (facts.at(-1)?.knowledgeId ?? null) : null };
}

/**
 * Defaults: now, and the last committed revision. Throws `INVALID_INPUT` for a revision that isn't committed yet, and
 * for a time in the future.
 */
export async function resolvePin(tx: Tx, query: PinQuery): Promise<Pin> {
  if (query.revision !== undefined && query.knownAt !== undefined)
    throw new AppError('INVALID_INPUT', 'revision and knownAt both say what was known: send one of them');
  const validAt = (query.validAt === undefined ? new Date() : new Date(query.validAt)).toISOString();
  if (query.knownAt !== undefined)
    return { validAt, revision: await findRevisionAt(tx, new Date(query.knownAt).toISOString()) };
  const last = await getLastRevision(tx);
  if (query.revision !== undefined && query.revision > last)
    throw new AppError('INVALID_INPUT', `revision: ${query.revision} is not committed yet; the last one is ${last}`);
  return { validAt, revision: query.revision ?? last };
}
