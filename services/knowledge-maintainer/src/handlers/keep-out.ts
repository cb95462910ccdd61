import { AppError, type Candidate, type FactImport } from '@cleanslate/contracts';
import { toContent, toRedactedHashes, toTombstone } from '@cleanslate/domain';
import {
  findRedactedContents,
  findRedactionKeys,
  insertAudit,
  insertCandidates,
  type KnowledgeHead,
  type NewCandidate,
  saveCandidateChanges,
  type Tx,
} from '@cleanslate/store';
import { toContents } from './redacted-copies.ts';

type Content = { readonly statement: string; readonly signature: string };

/**
 * Which of these contents were redacted, by position. For tenants that never redacted anything this is one query: their
 * contents are not even read.
 */
async function findReturning(
  tx: Tx,
  said: readonly { readonly tenantId: string; readonly content: () => Content }[],
): Promise<ReadonlySet<number>> {
  const keys = await findRedactionKeys(
    tx,
    said.map(({ tenantId }) => tenantId),
  );
  if (keys.size === 0) return new Set();
  const hashes = said.flatMap(({ tenantId, content }, at) => {
    const key = keys.get(tenantId);
    return key === undefined ? [] : toRedactedHashes(key, content()).map((hash) => ({ tenantId, hash, at }));
  });
  const known = await findRedactedContents(tx, hashes);
  return new Set(hashes.filter(({ tenantId, hash }) => known.has(`${tenantId}/${hash}`)).map(({ at }) => at));
}

/**
 * Stores candidates; one that says what was redacted is refused, and nothing of its content is stored. Returns those
 * that were new.
 */
export async function storeCandidates(
  tx: Tx,
  candidates: readonly NewCandidate[],
  { now, revision }: KnowledgeHead,
): Promise<readonly { readonly tenantId: string; readonly candidateId: string }[]> {
  const returning = await findReturning(
    tx,
    candidates.map(({ tenantId, body }) => ({ tenantId, content: () => toContent(body) })),
  );
  const kept = candidates.map((candidate, at) =>
    returning.has(at) ? { ...candidate, body: toTombstone(candidate.body) } : candidate,
  );
  const fresh = await insertCandidates(tx, kept);
  if (returning.size === 0) return fresh;
  const names = new Set(fresh.map(({ tenantId, candidateId }) => `${tenantId}/${candidateId}`));
  const refused = kept.filter(
    ({ tenantId, candidateId }, at) => returning.has(at) && names.has(`${tenantId}/${candidateId}`),
  );
  const decided = {
    state: 'settled',
    outcome: 'rejected',
    knowledgeId: null,
    version: null,
    reason: 'redacted',
  } as const;
  const changes = refused.map(({ tenantId, candidateId }) => ({ tenantId, candidateId, ...decided }));
  await saveCandidateChanges(tx, changes, now, revision);
  const audited = refused.map(({ messageId, ...candidate }) => ({
    ...pickName(candidate),
    decision: 'rejected',
    reason: 'redacted',
    sourceMessageId: messageId,
  }));
  await insertAudit(tx, audited, now, revision);
  return fresh;
}

function pickName({ tenantId, candidateId, taskId, stepId, attempt, claimId }: Omit<NewCandidate, 'messageId'>) {
  return { tenantId, candidateId, taskId, stepId, attempt, claimId };
}

/** Throws `INVALID_INPUT` naming the first period that says what was redacted. */
export async function refuseRedacted(tx: Tx, tenantId: string, facts: readonly FactImport[]): Promise<void> {
  const said = facts.flatMap((fact, index) =>
    toContents(fact).map((content, at) => ({
      content,
      field: `facts.${index}.periods.${at}`,
      message: `facts.${index}.periods.${at} of "${fact.knowledgeId}" says what was redacted: ${OTHERWISE}`,
    })),
  );
  await refuse(tx, tenantId, said);
}

/** The same for one statement. */
export async function refuseStatement(tx: Tx, tenantId: string, statement: Candidate): Promise<void> {
  const message = `statement says what was redacted: ${OTHERWISE}`;
  await refuse(tx, tenantId, [{ content: toContent(statement), field: 'statement', message }]);
}

/** The same for versions that are about to be believed again. */
export async function refuseArchived(
  tx: Tx,
  tenantId: string,
  knowledgeId: string,
  archived: readonly { readonly version: number; readonly body: Content }[],
): Promise<void> {
  const said = archived.map(({ version, body }) => ({
    content: body,
    field: 'knowledgeId',
    message: `${knowledgeId}@${version} says what was redacted: leave it in the archive, or redact it too`,
  }));
  await refuse(tx, tenantId, said);
}

/** The same for a challenger that is about to win. */
export async function refuseChallenger(
  tx: Tx,
  tenantId: string,
  disputeId: number,
  challenger: Candidate | FactImport,
): Promise<void> {
  const message = `the challenger of dispute ${disputeId} says what was redacted: keep the incumbent, or neither`;
  await refuse(
    tx,
    tenantId,
    toContents(challenger).map((content) => ({ content, field: 'keep', message })),
  );
}

type Said = { readonly content: Content; readonly field: string; readonly message: string };
const OTHERWISE = 'take it out, or word it without what had to go';

async function refuse(tx: Tx, tenantId: string, said: readonly Said[]): Promise<void> {
  const [first] = await findReturning(
    tx,
    said.map(({ content }) => ({ tenantId, content: () => content })),
  );
  const found = first === undefined ? undefined : said[first];
  if (found === undefined) return;
  throw new AppError('INVALID_INPUT', found.message, { details: { field: found.field } });
}
