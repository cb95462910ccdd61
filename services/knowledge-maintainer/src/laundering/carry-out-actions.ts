import type { Candidate, LaunderAction } from '@cleanslate/contracts';
import {
  type BelievedVersion,
  type FactBody,
  splitFactRef,
  toBound,
  type ValidRange,
  WriteDraft,
} from '@cleanslate/domain';
import {
  type Database,
  findFactStates,
  insertArchived,
  insertAudit,
  insertDisputes,
  insertKnowledgeOutbox,
  type KnowledgeOutboxRow,
  lockKnowledge,
  type Tx,
  updateMarks,
  withTransaction,
} from '@cleanslate/store';
import { cascade } from '../handlers/cascade.ts';
import { toFactChanged } from '../handlers/events.ts';
import { type WrittenBatch, writeBatch } from '../handlers/write-batch.ts';

const ALWAYS: ValidRange = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

type Ending = Exclude<LaunderAction, { action: 'dispute' }>;
type Question = Extract<LaunderAction, { action: 'dispute' }>;
export type CarriedOut = { readonly done: readonly LaunderAction[]; readonly outbox: readonly KnowledgeOutboxRow[] };

/**
 * Carries out a portion of a plan in one transaction under the knowledge lock. Whatever has changed since the plan was
 * made (a version is no longer believed) is left out; the next run looks again.
 */
export async function carryOutActions(
  database: Database,
  tenantId: string,
  actions: readonly LaunderAction[],
): Promise<CarriedOut> {
  return await withTransaction(database, { role: 'cleanslate_maintainer' }, async (tx) => {
    const head = await lockKnowledge(tx);
    const ids = new Set(actions.flatMap(namesOf).map((ref) => splitFactRef(ref).knowledgeId));
    const states = await findFactStates(tx, [{ tenantId, knowledgeIds: [...ids], factKeys: [], signatures: [] }]);
    const draft = new WriteDraft(states);
    const find = (ref: string) => {
      const { knowledgeId, version } = splitFactRef(ref);
      return draft.find(tenantId, knowledgeId).believed.find((each) => each.version === version);
    };
    const done = actions.filter((action) => namesOf(action).every((ref) => find(ref) !== undefined));
    if (done.length === 0) return { done, outbox: [] };
    const questions = done.filter((action) => action.action === 'dispute');
    const disputes = questions.map((question) => toDispute(tenantId, question, find(question.challenger)));
    const endings = done.filter((action) => action.action !== 'dispute');
    endVersions(draft, tenantId, endings);
    const written = await writeBatch(tx, head, draft, disputes.length > 0);
    await insertDisputes(tx, disputes, written.last);
    await insertArchived(
      tx,
      endings.map((ending) => toArchived(tenantId, ending)),
      written.last,
    );
    await cascade(tx, draft, [], written);
    // What rested on a merged version now rests on its twin, whose own grounds may have fallen.
    const grounds = endings.flatMap((each) =>
      each.action === 'merge' ? [{ tenantId, ...splitFactRef(each.into) }] : [],
    );
    await updateMarks(tx, [], grounds, written.at, written.last);
    return { done, outbox: await tell(tx, tenantId, done, written) };
  });
}

function namesOf(action: LaunderAction): string[] {
  if (action.action === 'merge') return [action.fact, action.into];
  return action.action === 'dispute' ? [action.fact, action.challenger] : [action.fact];
}

/** One write for each fact: its versions end together. */
function endVersions(draft: WriteDraft, tenantId: string, endings: readonly Ending[]): void {
  const refs = endings.map(({ fact }) => splitFactRef(fact));
  for (const [knowledgeId, versions] of Map.groupBy(refs, (ref) => ref.knowledgeId)) {
    const ended = new Set(versions.map(({ version }) => version));
    draft.retract(tenantId, knowledgeId, ALWAYS, ({ version }) => ended.has(version));
  }
}

function toArchived(tenantId: string, ending: Ending) {
  const into = ending.action === 'merge' ? splitFactRef(ending.into) : null;
  return { tenantId, ...splitFactRef(ending.fact), into };
}

/** The other fact's words as a challenger, so that it can still win. */
function toDispute(tenantId: string, { fact, challenger }: Question, found: BelievedVersion<FactBody> | undefined) {
  const { knowledgeId, version } = splitFactRef(fact);
  return {
    tenantId,
    knowledgeId,
    incumbentVersion: version,
    candidateId: null,
    challenger: found === undefined ? null : toCandidate(knowledgeId, challenger, found),
    challengerSignature: found?.body.signature ?? '',
    reason: `laundering: ${challenger} says otherwise`,
    incumbentScore: null,
    challengerScore: null,
    sourceMessageId: `launder:${challenger}`,
  };
}

function toCandidate(knowledgeId: string, ref: string, { body, valid }: BelievedVersion<FactBody>): Candidate {
  const { statement, assertion, knowledgeType, layer, sourceType, sourceRef, confidence, importance } = body;
  return {
    statement,
    assertion,
    knowledgeId,
    knowledgeType,
    layer,
    sourceType,
    sourceRef,
    confidence,
    importance,
    accessLevel: body.accessLevel,
    sensitivity: body.sensitivity,
    tags: [...body.tags],
    derivedFrom: [ref],
    validFrom: toBound(valid.from),
    validUntil: toBound(valid.until),
  };
}

/** Audit and events: what was archived, and which dispute was opened about a fact. */
async function tell(tx: Tx, tenantId: string, done: readonly LaunderAction[], written: WrittenBatch) {
  const sourceMessageId = `launder:${written.last}`;
  const told = done.map((action) => ({ ...splitFactRef(action.fact), ...describe(action) }));
  await insertAudit(
    tx,
    told.map(({ knowledgeId, version, change, reason }) => ({
      tenantId,
      knowledgeId,
      version,
      decision: change,
      reason,
      sourceMessageId,
    })),
    written.at,
    written.last,
  );
  const cause = { tenantId, at: written.at, causationId: sourceMessageId };
  const data = { revision: written.last, contentHash: null, taskId: null };
  return await insertKnowledgeOutbox(
    tx,
    told.map(({ reason, change, ...fact }) => toFactChanged(cause, { ...data, ...fact, change, reason }, reason)),
  );
}

function describe(action: LaunderAction): { change: 'archived' | 'disputed'; reason: string } {
  if (action.action === 'dispute') return { change: 'disputed', reason: `${action.challenger} says otherwise` };
  if (action.action === 'merge') return { change: 'archived', reason: `${action.into} says the same` };
  return { change: 'archived', reason: `importance ${action.importance}, unused for 30 days` };
}
