import { AppError, type Assertion, type Candidate, FactAdd, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import {
  type CandidateDecision,
  cleanCandidate,
  DEFAULT_SENSITIVE,
  decideStatement,
  factKeyOf,
  findBlank,
  signatureOf,
  toKnowledgeId,
  WriteDraft,
} from '@cleanslate/domain';
import { type Database, findFactStates, insertAudit, insertKnowledgeOutbox, insertSightings } from '@cleanslate/store';
import { type Answered, answerOnce, type Call } from './answer-once.ts';
import { cascade } from './cascade.ts';
import { toFactChanged } from './events.ts';
import { refuseStatement } from './keep-out.ts';
import { replySchema } from './reply-schema.ts';
import { type WrittenBatch, writeBatch } from './write-batch.ts';

type Request = RequestOf<typeof FactAdd>;
type Made = CandidateDecision & { readonly knowledgeId: string; readonly version: number };

/**
 * Stores what a person states: it outranks every other source. Throws `FACT_CONFLICT` if several facts have its subject
 * and predicate, or the one it names is about others; `INVALID_INPUT` for a blank, a credential and an empty period.
 */
export async function addFact(database: Database, call: Call<Request>): Promise<Answered<ValueOf<typeof FactAdd>>> {
  const { tenantId, requestId } = call;
  const candidate = toCandidate(call.data);
  return await answerOnce(database, call, replySchema(FactAdd), async (tx, head) => {
    await refuseStatement(tx, tenantId, candidate);
    const draft = new WriteDraft(await findFactStates(tx, [toLookup(tenantId, candidate)]));
    refuseForeignId(draft, tenantId, candidate);
    const said = { tenantId, candidate, messageId: requestId, saidAt: head.now.getTime(), validated: true };
    const decision = decideStatement(
      draft,
      { ...said, candidateId: null, taskId: null, validatorScore: null, parents: [], wasTurnedDown: () => false },
      head.now.getTime(),
    );
    const made = toMade(decision, candidate);
    const written = await writeBatch(tx, head, draft, false);
    const { knowledgeId, version, outcome, reason } = made;
    const named = { tenantId, knowledgeId, version, sourceMessageId: requestId };
    await insertAudit(tx, [{ ...named, decision: outcome, reason }], written.at, written.last);
    if (outcome === 'duplicate') {
      const sighting = { ...named, sourceType: 'human_confirmed', sourceRef: candidate.sourceRef, candidateId: null };
      await insertSightings(tx, [{ ...sighting, sourceTime: head.now }], written.last);
    }
    await cascade(tx, draft, [], written);
    const outbox = await insertKnowledgeOutbox(tx, [toEvent(call, made, written)]);
    return { reply: { knowledgeId, version, outcome, reason, revision: written.last }, outbox };
  });
}

function toCandidate(data: Request): Candidate {
  const { statement, assertion = null, knowledgeId, knowledgeType, sourceRef, accessLevel, tags = [] } = data;
  const [validFrom, validUntil] = [toTime(data.validFrom), toTime(data.validUntil)];
  if (validFrom !== null && validUntil !== null && validFrom >= validUntil)
    throw invalid('validFrom', 'validFrom must be before validUntil: correct one of the two');
  const blank = findBlank({ ...assertion, statement });
  if (blank !== null) throw invalid(blank, `the ${blank} is blank: write what the fact says, and about what`);
  const said: Candidate = {
    statement,
    assertion,
    tags,
    validFrom,
    validUntil,
    ...(knowledgeId === undefined ? {} : { knowledgeId }),
    knowledgeType: knowledgeType ?? (assertion === null ? 'other' : 'rule'),
    layer: 'core',
    sourceType: 'human_confirmed',
    sourceRef: sourceRef ?? 'person',
    confidence: 1,
    importance: 1,
    derivedFrom: [],
    ...(accessLevel === undefined ? {} : { accessLevel }),
  };
  const clean = cleanCandidate(said, DEFAULT_SENSITIVE);
  if (clean.sensitivity !== 'secret') return clean;
  throw invalid('statement', 'the statement holds a password, key or card number: take it out');
}

function toTime(text: string | undefined): string | null {
  return text === undefined ? null : new Date(text).toISOString();
}

function invalid(field: string, message: string): AppError {
  return new AppError('INVALID_INPUT', message, { details: { field } });
}

function toLookup(tenantId: string, { statement, assertion, knowledgeId }: Candidate) {
  const factKey = assertion === null ? null : factKeyOf(assertion);
  const signature = assertion === null ? signatureOf(statement, null) : '';
  return {
    tenantId,
    knowledgeIds: [knowledgeId ?? toKnowledgeId({ factKey, signature })],
    factKeys: factKey === null ? [] : [factKey],
    signatures: factKey === null ? [signature] : [],
  };
}

/**
 * Otherwise a fact could lose its meaning: a new version of it has another value, never another subject, nor mere
 * words; and what was said in words alone gets no subject, which may be that of another fact.
 */
function refuseForeignId(draft: WriteDraft, tenantId: string, { assertion, knowledgeId }: Candidate): void {
  if (knowledgeId === undefined) return;
  const { believed } = draft.find(tenantId, knowledgeId);
  const known = believed.flatMap(({ body }) => body.assertion ?? []);
  const [present] = known;
  if (present === undefined) {
    if (believed.length > 0 && assertion !== null) throw refuseSubject(knowledgeId, assertion);
    return;
  }
  if (assertion !== null && known.some((each) => factKeyOf(each) === factKeyOf(assertion))) return;
  const said = assertion === null ? '' : `, not ${nameOf(assertion)}`;
  const way =
    assertion === null ? 'say it with that subject, predicate and a value' : 'name that subject and predicate';
  throw new AppError(
    'FACT_CONFLICT',
    `${knowledgeId} is about ${nameOf(present)}${said} (slate fact history ${knowledgeId}): take another id or none, or ${way}`,
  );
}

function refuseSubject(knowledgeId: string, assertion: Assertion): AppError {
  return new AppError(
    'FACT_CONFLICT',
    `${knowledgeId} has no subject, and can't become ${nameOf(assertion)} (slate fact history ${knowledgeId}): take another id or none, or say it without subject, predicate and value`,
  );
}

function nameOf({ subject, predicate }: Assertion): string {
  return `${subject} / ${predicate}`;
}

function toMade(decision: CandidateDecision, { assertion }: Candidate): Made {
  const { knowledgeId, version, reason } = decision;
  if (knowledgeId !== null && version !== null && decision.outcome !== 'rejected')
    return { ...decision, knowledgeId, version };
  if (assertion !== null && knowledgeId === null)
    throw new AppError(
      'FACT_CONFLICT',
      `several facts are about ${nameOf(assertion)}: name the one you mean by its knowledge id`,
    );
  throw invalid('validFrom', `${reason}: say from when it holds, after what is known already`);
}

function toEvent({ tenantId, requestId }: Call<Request>, made: Made, { at, last }: WrittenBatch) {
  const { knowledgeId, version, outcome, body } = made;
  return toFactChanged(
    { tenantId, at, causationId: requestId },
    {
      change: outcome === 'dropped' ? 'rejected' : outcome,
      knowledgeId,
      version,
      revision: last,
      contentHash: body?.contentHash ?? null,
      taskId: null,
      reason: null,
    },
  );
}
