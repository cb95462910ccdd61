import type { Candidate, CandidateOutcome } from '@cleanslate/contracts';
import { arbitrate, type Ruling } from './arbitrate.ts';
import type { BelievedVersion } from './decide-fact-write.ts';
import { type CandidateSource, type FactBody, toCandidateBody, toKnowledgeId, withLevel } from './fact-body.ts';
import { placePeriod } from './place-period.ts';
import { type ScreenSettings, screenCandidate } from './screen-candidate.ts';
import { highestLevel } from './trust.ts';
import { overlaps, type ValidRange } from './valid-range.ts';
import type { FactState, WriteDraft } from './write-draft.ts';

export type ReleasedCandidate = {
  readonly tenantId: string;
  readonly candidate: Candidate;
  /** Did a person decide against this statement (by its signature) of this fact? */
  readonly wasTurnedDown: (knowledgeId: string, signature: string) => boolean;
} & CandidateSource;

export type CandidateDecision = {
  readonly outcome: CandidateOutcome;
  readonly reason: string;
  readonly knowledgeId: string | null;
  /** Written (accepted, updated), repeated (duplicate) or challenged (disputed, rejected). */
  readonly version: number | null;
  readonly wave: number;
  readonly body: FactBody | null;
  readonly ruling: Ruling | null;
};

/** Screens, matches, arbitrates and writes one released candidate into the draft. `now` in milliseconds. */
export function decideCandidate(
  draft: WriteDraft,
  released: ReleasedCandidate,
  settings: ScreenSettings,
  now: number,
): CandidateDecision {
  const screening = screenCandidate(released.candidate, released.validated, settings);
  return screening.passed ? decideStatement(draft, released, now) : refusal(screening.reason, null);
}

/** The same without screening: for what a person states and answers for. */
export function decideStatement(draft: WriteDraft, released: ReleasedCandidate, now: number): CandidateDecision {
  const said = toCandidateBody(released.candidate, released);
  const match = findFact(draft, released, said);
  if (match === 'ambiguous') return refusal('several facts have this key: name the knowledge id', said);
  const byPerson = released.taskId === null && released.candidate.accessLevel !== undefined;
  const body = byPerson ? said : atLevelOf(match, said);
  const known = match.believed.find((version) => version.body.signature === body.signature);
  if (known !== undefined && restsOn(released.candidate, match))
    return { ...refusal('recalled_fact', body), knowledgeId: match.knowledgeId };
  const period = toPeriod(match, released, known);
  if (period === undefined)
    return { ...refusal('nothing is left of its valid range', body), knowledgeId: match.knowledgeId };
  const ruling = rule(match, body, period, released.candidate.validFrom != null, now);
  if (ruling !== null && ruling.verdict.ruling !== 'update') {
    const outcome = ruling.verdict.ruling === 'dispute' ? 'disputed' : 'rejected';
    const { version } = ruling.incumbent;
    const { reason } = ruling.verdict;
    if (released.wasTurnedDown(match.knowledgeId, body.signature))
      return { ...refusal('a person decided against it', body), knowledgeId: match.knowledgeId, version };
    return { outcome, reason, knowledgeId: match.knowledgeId, version, wave: -1, body, ruling: ruling.verdict };
  }
  const write = draft.write(released.tenantId, match.knowledgeId, [{ valid: period, body }], sameSignature);
  const written = write.asserted.findLast(({ remainderOf }) => remainderOf === null);
  return {
    outcome: write.outcome,
    reason: ruling?.verdict.reason ?? (write.outcome === 'duplicate' ? 'same signature' : 'no conflict'),
    knowledgeId: match.knowledgeId,
    version: written?.version ?? write.holding.at(-1) ?? null,
    wave: write.wave,
    body,
    ruling: ruling?.verdict ?? null,
  };
}

function refusal(reason: string, body: FactBody | null): CandidateDecision {
  return { outcome: 'rejected', reason, knowledgeId: null, version: null, wave: -1, body, ruling: null };
}

/** It only repeats what it was told: a recalled fact fed back is not a second source. */
function restsOn(candidate: Candidate, { knowledgeId }: FactState): boolean {
  return candidate.derivedFrom.some((ref) => ref.slice(0, ref.lastIndexOf('@')) === knowledgeId);
}

/**
 * Only those may read it who may read the fact that it is about, unless a person named its level; what is already
 * believed keeps its own.
 */
export function atLevelOf({ believed }: FactState, body: FactBody): FactBody {
  if (believed.some((version) => version.body.contentHash === body.contentHash)) return body;
  const level = highestLevel(body.accessLevel, ...believed.map((version) => version.body.accessLevel));
  return level === body.accessLevel ? body : withLevel(body, level);
}

function sameSignature(a: FactBody, b: FactBody): boolean {
  return a.signature === b.signature;
}

/**
 * By the given id, otherwise by key, exhaustively, otherwise (no assertion) by signature; a new id if nothing is known.
 */
function findFact(draft: WriteDraft, released: ReleasedCandidate, body: FactBody): FactState | 'ambiguous' {
  const { tenantId, candidate } = released;
  if (candidate.knowledgeId !== undefined) return draft.find(tenantId, candidate.knowledgeId);
  const matches =
    body.factKey === null ? draft.findBySignature(tenantId, body.signature) : draft.findByKey(tenantId, body.factKey);
  const [first, ...others] = matches;
  if (first === undefined) return draft.find(tenantId, toKnowledgeId(body));
  if (others.length === 0) return first;
  const same = matches.find(({ believed }) => believed.some((version) => sameSignature(version.body, body)));
  return same ?? 'ambiguous';
}

/** An undated repetition of a believed version adds nothing: it takes that version's period. */
function toPeriod(
  state: FactState,
  { candidate, saidAt }: ReleasedCandidate,
  known: BelievedVersion<FactBody> | undefined,
): ValidRange | undefined {
  const from = candidate.validFrom == null ? null : Date.parse(candidate.validFrom);
  const until = candidate.validUntil == null ? null : Date.parse(candidate.validUntil);
  const placed = placePeriod(
    state.believed.map(({ valid, body }) => ({ valid, sourceTime: body.sourceTime })),
    { from, until },
    saidAt,
  );
  if (known === undefined || from !== null || until !== null) return placed;
  const holdsNow = placed !== undefined && overlaps(known.valid, { from: saidAt, until: saidAt + 1 });
  return holdsNow ? known.valid : placed;
}

/** The strictest ruling over all versions that the period would displace. */
function rule(
  { believed, weights }: FactState,
  body: FactBody,
  period: ValidRange,
  dated: boolean,
  now: number,
): { verdict: Ruling; incumbent: BelievedVersion<FactBody> } | null {
  const order = { update: 0, dispute: 1, reject: 2 } as const;
  const rulings = believed
    .filter((version) => overlaps(version.valid, period) && !sameSignature(version.body, body))
    .map((incumbent) => ({
      incumbent,
      verdict: arbitrate(toContender(incumbent.body, weights.get(incumbent.version)), toContender(body), dated, now),
    }));
  rulings.sort((a, b) => order[b.verdict.ruling] - order[a.verdict.ruling]);
  return rulings[0] ?? null;
}

/** `weight`: what feedback left of its source's weight, as every reader weighs it. */
function toContender(body: FactBody, weight = body.weight) {
  return { ...body, weight, trust: body.lineage.trust };
}
