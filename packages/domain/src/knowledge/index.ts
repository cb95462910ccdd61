export { arbitrate, arbitrationScore, type Contender, DECISIVE_LEAD, type Ruling } from './arbitrate.ts';
export { cleanCandidate } from './clean-text.ts';
export {
  atLevelOf,
  type CandidateDecision,
  decideCandidate,
  decideStatement,
  type ReleasedCandidate,
} from './decide-candidate.ts';
export {
  type AssertedVersion,
  type BelievedVersion,
  decideFactWrite,
  type FactWrite,
  type StatedPeriod,
} from './decide-fact-write.ts';
export { checkImport, decideImport, type ImportOutcome } from './decide-import.ts';
export { decideRetraction } from './decide-retraction.ts';
export {
  accessLevelOf,
  type CandidateSource,
  contentHashOf,
  type FactBody,
  type ImportSource,
  toCandidateBody,
  toImportedBody,
  toKnowledgeId,
} from './fact-body.ts';
export { countVotes, type Vote, weightAfter } from './feedback.ts';
export { findBlank } from './find-blank.ts';
export { findFactRefs, splitFactRef } from './find-fact-refs.ts';
export {
  type ExpiredFact,
  type FadingVersion,
  type LaunderFindings,
  type LaunderPlan,
  planLaundering,
  type TwinVersion,
  type UncitedFact,
} from './laundering/index.ts';
export { isAbout, type OpenClaim, toOpenClaim } from './open-claim.ts';
export { type PlacedVersion, placePeriod } from './place-period.ts';
export { createEraser, ERASED, type Eraser, type Erasure } from './redaction/erase-content.ts';
export { toKeyedRequest } from './redaction/keyed-request.ts';
export { isShortPhrase, toFragments } from './redaction/phrase-pattern.ts';
export { toContent, toRedactedHashes, toTombstone } from './redaction/redacted-hash.ts';
export { DEFAULT_SCREEN, type Screening, type ScreenSettings, screenCandidate } from './screen-candidate.ts';
export {
  freshnessOf,
  fuseLegs,
  type Leg,
  pickDiverse,
  type RankedHit,
} from './search/rank-hits.ts';
export { TERM_NORMALISER, toSearchTerms } from './search/search-terms.ts';
export {
  type CandidateClaim,
  mergeSettlement,
  type Routing,
  routeCandidate,
  type StoredSettlement,
} from './settle-claim.ts';
export { factKeyOf, normaliseName, sha256, signatureOf } from './signature.ts';
export { findDatedDoubt, findDoubt, type MarkCause, type StandingVersion, type Support } from './standing.ts';
export { findTextFeatures, findWords, type TextFeatures, toBigrams } from './text-features.ts';
export { combineLineage, HALF_LIFE_MS, type Lineage, type Parent, weightOf } from './trust.ts';
export { contains, overlaps, subtractRanges, toBound, toValidRange, type ValidRange } from './valid-range.ts';
export { type DraftClosing, type DraftVersion, type FactState, WriteDraft } from './write-draft.ts';
