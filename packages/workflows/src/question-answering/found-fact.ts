import { AccessLevel, type DisputeView, type FactView } from '@cleanslate/contracts';
import {
  type Evidence,
  isAbout,
  isInstructionLike,
  type OpenClaim,
  splitSentences,
  weightOf,
} from '@cleanslate/domain';
import { EvidenceRef, type FoundFact } from './schemas.ts';

/**
 * A fact version as question answering passes it from step to step. Of the claims against this version, those that may
 * be read up to the level: a claim's words have a level of their own, which may be above the fact's.
 */
export function toFoundFact(
  fact: FactView,
  score: number,
  claims: readonly OpenClaim[],
  clearance: AccessLevel,
): FoundFact {
  const { knowledgeId, version, statement, assertion, knowledgeType, layer, sourceType, sourceRef, weight } = fact;
  const valid = { from: fact.validFrom, until: fact.validUntil };
  return {
    fact: `${knowledgeId}@${version}`,
    statement,
    assertion,
    knowledgeType,
    layer,
    sourceType,
    sourceRef,
    weight,
    accessLevel: fact.accessLevel,
    validFrom: fact.validFrom,
    validUntil: fact.validUntil,
    score,
    suspicious: isInstructionLike(statement),
    challengers: claims
      .filter((claim) => isAbout(claim, { knowledgeId, valid }) && mayRead(clearance, claim.accessLevel))
      .slice(0, 20)
      .map(toChallenger),
  };
}

function mayRead(clearance: AccessLevel, level: AccessLevel): boolean {
  return AccessLevel.options.indexOf(level) <= AccessLevel.options.indexOf(clearance);
}

function toChallenger({ disputeId, challenger }: DisputeView): FoundFact['challengers'][number] {
  if ('statement' in challenger) {
    const { statement, assertion, sourceType, sourceRef } = challenger;
    return {
      disputeId,
      statement,
      value: assertion?.value ?? null,
      unit: assertion?.unit ?? null,
      sourceType,
      sourceRef,
    };
  }
  const { statement = '?', value = null } = challenger.periods.at(-1) ?? {};
  return { disputeId, statement, value, unit: challenger.unit, sourceType: null, sourceRef: null };
}

/** The sentences of a passage of another source, each citable by itself. What can't be cited is left out. */
export function toFoundPassages(evidence: Evidence, sourceType: FoundFact['sourceType']): readonly FoundFact[] {
  const { source, locator, content, score, accessLevel, validFrom = null, validUntil = null, title, flags } = evidence;
  return splitSentences(content).flatMap((sentence, index): FoundFact[] => {
    const ref = EvidenceRef.safeParse(`source:${source}:${locator}§${index + 1}`);
    if (!ref.success || sentence.trim() === '') return [];
    return [
      {
        fact: ref.data,
        statement: sentence.trim(),
        assertion: null,
        knowledgeType: 'other',
        layer: 'core',
        sourceType,
        sourceRef: `${source}: ${title ?? locator}`.slice(0, 500),
        weight: weightOf(sourceType),
        accessLevel,
        validFrom,
        validUntil,
        score,
        challengers: [],
        suspicious: flags.includes('instruction_like') || isInstructionLike(sentence),
      },
    ];
  });
}
