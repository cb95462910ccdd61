import {
  type CandidateDecision,
  decideCandidate,
  factKeyOf,
  type Parent,
  type ReleasedCandidate,
  type ScreenSettings,
  signatureOf,
  toKnowledgeId,
  WriteDraft,
} from '@cleanslate/domain';
import {
  type FactLookup,
  findFactStates,
  findLineages,
  findTurnedDown,
  type StoredCandidate,
  type TaskSettlement,
  type Tx,
  type VersionName,
} from '@cleanslate/store';

export type Released = { readonly candidate: StoredCandidate; readonly settlement: TaskSettlement };
export type Decided = { readonly candidate: StoredCandidate; readonly decision: CandidateDecision };

/** Loads what the released candidates may concern and decides them in the order in which they were stated. */
export async function decideReleased(
  tx: Tx,
  released: readonly Released[],
  settings: ScreenSettings,
  now: Date,
): Promise<{ draft: WriteDraft; decided: readonly Decided[] }> {
  if (released.length === 0) return { draft: new WriteDraft([]), decided: [] };
  const states = await findFactStates(tx, toLookups(released));
  const turnedDown = await findTurnedDown(tx, states);
  const judged = new Set(turnedDown.map((item) => `${item.tenantId}/${item.knowledgeId}/${item.signature}`));
  const draft = new WriteDraft(states);
  const lineages = await findLineages(
    tx,
    released.flatMap(({ candidate }) => parentsOf(candidate)),
  );
  const inOrder = [...released].sort((a, b) => a.candidate.saidAt.getTime() - b.candidate.saidAt.getTime());
  const decided = inOrder.map(({ candidate, settlement }) => {
    const wasTurnedDown = (knowledgeId: string, signature: string) =>
      judged.has(`${candidate.tenantId}/${knowledgeId}/${signature}`);
    const input = { ...toReleased(candidate, settlement, lineages), wasTurnedDown };
    return { candidate, decision: decideCandidate(draft, input, settings, now.getTime()) };
  });
  return { draft, decided };
}

/** The versions that a candidate claims to be derived from. */
export function parentsOf(candidate: Pick<StoredCandidate, 'tenantId' | 'body'>): VersionName[] {
  return [...new Set(candidate.body.derivedFrom)].map((ref) => {
    const at = ref.lastIndexOf('@');
    return { tenantId: candidate.tenantId, knowledgeId: ref.slice(0, at), version: Number(ref.slice(at + 1)) };
  });
}

function toLookups(released: readonly Released[]): FactLookup[] {
  return released.map(({ candidate: { tenantId, body } }) => {
    const { assertion, statement } = body;
    const factKey = assertion === null ? null : factKeyOf(assertion);
    const signature = assertion === null ? signatureOf(statement, null) : '';
    return {
      tenantId,
      knowledgeIds: [body.knowledgeId ?? toKnowledgeId({ factKey, signature })],
      factKeys: factKey === null ? [] : [factKey],
      signatures: factKey === null ? [signature] : [],
    };
  });
}

function toReleased(
  candidate: StoredCandidate,
  settlement: TaskSettlement,
  lineages: ReadonlyMap<string, Parent>,
): Omit<ReleasedCandidate, 'wasTurnedDown'> {
  return {
    tenantId: candidate.tenantId,
    candidate: candidate.body,
    candidateId: candidate.candidateId,
    taskId: candidate.taskId,
    messageId: candidate.messageId,
    saidAt: candidate.saidAt.getTime(),
    validatorScore: settlement.validatorScore,
    validated: settlement.verdict === 'passed',
    parents: parentsOf(candidate).map((parent) => {
      const ref = `${parent.knowledgeId}@${parent.version}`;
      // An unknown parent is worth no more than a guess.
      return (
        lineages.get(`${parent.tenantId}/${ref}`) ?? { roots: [ref], trust: 'model_inference', accessLevel: 'internal' }
      );
    }),
  };
}
