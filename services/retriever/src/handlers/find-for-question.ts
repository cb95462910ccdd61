import type { FactView, Pin } from '@cleanslate/contracts';
import { factKeyOf, type Interval, intersect, type SearchChannel, sanitizeEvidence } from '@cleanslate/domain';
import {
  type FactHit,
  type FactSearch,
  findClaimsAt,
  findFactHistory,
  listFactsAt,
  searchFacts,
  type Tx,
} from '@cleanslate/store';
import { type FoundFact, matchFact, needOf, type SubGoalRecord, toFoundFact } from '@cleanslate/workflows';
import { levelsUpTo } from './search.ts';

/** Most facts of one search, and most facts whose versions are read for a period. */
const MAX_HITS = 10;
const MAX_SERIES = 20;
const MAX_SUBJECTS = 10;
const MAX_OF_SUBJECT = 50;

export type Search = {
  readonly question: string;
  readonly channels: readonly SearchChannel[];
  readonly period: Interval | null;
  readonly accessLevel: SubGoalRecord['accessLevel'];
};

/**
 * Facts that the question finds at the pin, and claims to the contrary; with a period every version in force during it.
 */
export async function findFor(
  tx: Tx,
  tenantId: string,
  search: Search,
  vector: FactSearch['vector'],
  pin: Pin,
): Promise<readonly FoundFact[]> {
  const { question: query, period, accessLevel } = search;
  const accessLevels = levelsUpTo(accessLevel);
  const hits = new Map<string, { readonly fact: FactView; readonly score: number }>();
  for (const validAt of momentsOf(period, pin)) {
    const at = { ...pin, validAt };
    const asked = { query, pin: at, pinned: true, vector, filter: { accessLevels }, limit: MAX_HITS };
    const found = await searchFacts(tx, tenantId, asked);
    const rivals = await findRivals(tx, tenantId, at, query, found);
    for (const hit of [...found, ...rivals.filter(({ fact }) => accessLevels.includes(fact.accessLevel))]) {
      const ref = `${hit.fact.knowledgeId}@${hit.fact.version}`;
      if ((hits.get(ref)?.score ?? -1) < hit.score) hits.set(ref, hit);
    }
  }
  const scores = new Map([...hits.values()].map(({ fact, score }) => [fact.knowledgeId, score]));
  const ids = [...scores.keys()];
  const held = [...hits.values()].map(({ fact }) => fact);
  const facts = period === null ? held : await versionsIn(tx, tenantId, ids, period, accessLevels, pin.revision);
  const claims = await findClaimsAt(tx, tenantId, pin.revision, ids);
  return keepUsable(facts, pin, period).map((fact) =>
    toFoundFact(fact, scores.get(fact.knowledgeId) ?? 0, claims, accessLevel),
  );
}

/**
 * Facts with the same subject and predicate as those that answer: they may contradict in other words, or in another
 * language.
 */
async function findRivals(
  tx: Tx,
  tenantId: string,
  at: Pin,
  query: string,
  hits: readonly FactHit[],
): Promise<FactHit[]> {
  const need = needOf(query);
  const answering = hits.filter(({ fact }) => matchFact(toFoundFact(fact, 0, [], 'public'), need) !== null);
  const keys = new Map(
    answering.flatMap(({ fact: { assertion } }) =>
      assertion === null ? [] : [[factKeyOf(assertion), assertion.subject] as const],
    ),
  );
  const rivals: FactHit[] = [];
  for (const subject of [...new Set(keys.values())].slice(0, MAX_SUBJECTS)) {
    const listed = await listFactsAt(tx, tenantId, at, { subjectPrefix: subject, limit: MAX_OF_SUBJECT });
    for (const fact of listed)
      if (fact.assertion !== null && keys.has(factKeyOf(fact.assertion))) rivals.push({ fact, score: 0 });
  }
  return rivals;
}

/**
 * Moments at which a period is searched: its ends, and the pin if it lies inside. What was in force only in between is
 * found through its later or earlier version.
 */
function momentsOf(period: Interval | null, { validAt }: Pin): readonly string[] {
  if (period === null) return [validAt];
  const last = period.until === null ? null : new Date(Date.parse(period.until) - 1).toISOString();
  const inside = intersect(period, { from: validAt, until: new Date(Date.parse(validAt) + 1).toISOString() }) !== null;
  return [...new Set([period.from, last, inside ? validAt : null].filter((at) => at !== null))];
}

async function versionsIn(
  tx: Tx,
  tenantId: string,
  ids: readonly string[],
  period: Interval,
  accessLevels: readonly string[],
  revision: number,
): Promise<FactView[]> {
  const versions: FactView[] = [];
  for (const knowledgeId of ids.slice(0, MAX_SERIES))
    versions.push(...(await findFactHistory(tx, tenantId, knowledgeId, revision)));
  return versions.filter(
    ({ validFrom, validUntil, revisionFrom, revisionUntil, accessLevel }) =>
      accessLevels.includes(accessLevel) &&
      intersect(period, { from: validFrom, until: validUntil }) !== null &&
      revisionFrom <= revision &&
      (revisionUntil === null || revision < revisionUntil),
  );
}

/** What the sanitizer passes. A statement stays word for word, because it is quoted as it was governed. */
function keepUsable(found: readonly FactView[], { validAt }: Pin, period: Interval | null): readonly FactView[] {
  // Redacted facts have nothing left to quote.
  const facts = found.filter(({ redacted }) => redacted === undefined);
  const items = facts.map((fact) => ({
    id: `${fact.knowledgeId}@${fact.version}`,
    content: fact.statement,
    knowledgeType: fact.knowledgeType,
    // All versions of a period are wanted, not only the newest.
    series: period === null ? fact.knowledgeId : null,
    version: fact.version,
    ...(period === null
      ? { validFrom: fact.validFrom, validUntil: fact.validUntil }
      : { validFrom: null, validUntil: null }),
  }));
  const { kept } = sanitizeEvidence(items, { level: 'full', validAt, now: () => performance.now() });
  const ids = new Set(kept.map(({ id }) => id));
  return facts.filter(({ knowledgeId, version }) => ids.has(`${knowledgeId}@${version}`));
}
