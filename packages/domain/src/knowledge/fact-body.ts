import {
  type AccessLevel,
  type Assertion,
  type Candidate,
  canonicalJson,
  type FactImport,
  type KnowledgeLayer,
  type KnowledgeType,
  type Sensitivity,
  type SourceType,
} from '@cleanslate/contracts';
import { DEFAULT_SENSITIVE } from '../sensitive/index.ts';
import { cleanPeriod } from './clean-text.ts';
import { factKeyOf, sha256, signatureOf } from './signature.ts';
import { combineLineage, highestLevel, type Lineage, layerOf, type Parent, weightOf } from './trust.ts';

/** Everything a version says and where it comes from; when it is in force and believed is kept beside it. */
export type FactBody = {
  readonly statement: string;
  readonly assertion: Assertion | null;
  /** Hash of subject and predicate; null without an assertion. */
  readonly factKey: string | null;
  readonly signature: string;
  readonly contentHash: string;
  readonly knowledgeType: KnowledgeType;
  readonly layer: KnowledgeLayer;
  readonly sourceType: SourceType;
  readonly sourceRef: string;
  readonly lineage: Lineage;
  readonly sourceMessageId: string;
  /** When the source said it, in milliseconds. */
  readonly sourceTime: number;
  readonly taskId: string | null;
  readonly candidateId: string | null;
  readonly weight: number;
  readonly confidence: number;
  readonly importance: number;
  readonly validatorScore: number | null;
  readonly accessLevel: AccessLevel;
  readonly sensitivity: Sensitivity;
  readonly tags: readonly string[];
};

/** Hash of what a version says (not of when it is in force, nor of who said it): equal content is written once. */
export function contentHashOf(
  content: Pick<FactBody, 'statement' | 'assertion' | 'knowledgeType' | 'accessLevel' | 'sensitivity' | 'tags'>,
): string {
  const { statement, assertion, knowledgeType, accessLevel, sensitivity, tags } = content;
  return sha256(
    canonicalJson({ statement, assertion, knowledgeType, accessLevel, sensitivity, tags: [...tags].sort() }),
  );
}

/** Default access level: imports, and candidates that name no level, may be read by everybody inside. */
export function accessLevelOf(said: Candidate | FactImport): AccessLevel {
  return ('accessLevel' in said ? said.accessLevel : undefined) ?? 'internal';
}

/** The body for readers of a level. */
export function withLevel(body: FactBody, accessLevel: AccessLevel): FactBody {
  return { ...body, accessLevel, contentHash: contentHashOf({ ...body, accessLevel }) };
}

export type ImportSource = {
  readonly sourceRef: string;
  readonly sourceType: SourceType;
  readonly messageId: string;
  /** Milliseconds. */
  readonly saidAt: number;
};

/** One period of an imported fact as a body. What people import is certain and of full importance. */
export function toImportedBody(
  fact: FactImport,
  period: Pick<FactImport['periods'][number], 'value' | 'statement'>,
  source: ImportSource,
): FactBody {
  const { subject, predicate, unit, polarity, modality } = fact;
  const { statement, value, sensitivity } = cleanPeriod(period, unit, DEFAULT_SENSITIVE);
  const assertion = { subject, predicate, value, unit, polarity, modality };
  const content = {
    statement,
    assertion,
    knowledgeType: fact.knowledgeType,
    accessLevel: accessLevelOf(fact),
    sensitivity,
    tags: fact.tags,
  };
  return {
    ...content,
    factKey: factKeyOf(assertion),
    signature: signatureOf(statement, assertion),
    contentHash: contentHashOf(content),
    layer: 'core',
    sourceType: source.sourceType,
    sourceRef: source.sourceRef,
    lineage: combineLineage(source.sourceType, source.sourceRef, []),
    sourceMessageId: source.messageId,
    sourceTime: source.saidAt,
    taskId: null,
    candidateId: null,
    weight: weightOf(source.sourceType),
    confidence: 1,
    importance: 1,
    validatorScore: null,
  };
}

export type CandidateSource = {
  /** Both null if a person says it. */
  readonly candidateId: string | null;
  readonly taskId: string | null;
  readonly messageId: string;
  /** Milliseconds; never later than it was received. */
  readonly saidAt: number;
  readonly validatorScore: number | null;
  /** False if the task completed without a verdict: what it says counts as a model's inference. */
  readonly validated: boolean;
  readonly parents: readonly Parent[];
};

/**
 * A screened candidate as a body. Like trust, its level comes from its parents: anything made from a restricted fact is
 * restricted.
 */
export function toCandidateBody(candidate: Candidate, source: CandidateSource): FactBody {
  const sourceType = source.validated ? candidate.sourceType : 'model_inference';
  const lineage = combineLineage(sourceType, candidate.sourceRef, source.parents);
  const content = {
    statement: candidate.statement,
    assertion: candidate.assertion,
    knowledgeType: candidate.knowledgeType,
    accessLevel: highestLevel(accessLevelOf(candidate), ...source.parents.map(({ accessLevel }) => accessLevel)),
    sensitivity: candidate.sensitivity ?? 'none',
    tags: candidate.tags,
  };
  return {
    ...content,
    factKey: candidate.assertion === null ? null : factKeyOf(candidate.assertion),
    signature: signatureOf(candidate.statement, candidate.assertion),
    contentHash: contentHashOf(content),
    layer: candidate.layer ?? layerOf(sourceType),
    sourceType,
    sourceRef: candidate.sourceRef,
    lineage,
    sourceMessageId: source.messageId,
    sourceTime: source.saidAt,
    taskId: source.taskId,
    candidateId: source.candidateId,
    weight: weightOf(lineage.trust),
    confidence: candidate.confidence,
    importance: candidate.importance,
    validatorScore: source.validatorScore,
  };
}

/** Id of a fact that nobody named: the same key, or without one the same signature, always gives the same id. */
export function toKnowledgeId(body: Pick<FactBody, 'factKey' | 'signature'>): string {
  return `k-${sha256(body.factKey ?? body.signature).slice(0, 32)}`;
}
