import { AccessLevel, type FactView, Pin, Verdict } from '@cleanslate/contracts';
import { MAX_SUB_GOALS, type OpenClaim } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { type Database, findClaimsAt, findFactVersions, listFactsAt, withTransaction } from '@cleanslate/store';
import {
  checkAnswer,
  type FoundFact,
  MAX_QUESTION,
  Retrieved,
  SubGoalRecord,
  scopeOfQuery,
  toFoundFact,
} from '@cleanslate/workflows';
import { z } from 'zod';
import { findCitations } from './find-citations.ts';

const MAX_SUBJECTS = 20;
const MAX_OF_SUBJECT = 50;

/**
 * Tries to prove the answer wrong. Each fact that it cites, that a search found, or that is about the same subject is
 * loaded here by the validator's own credential; what the answer says of them is not believed, and it is unknown until
 * the checklist has parsed it.
 */
export function validateAnswerExecutor(database: Database): Executor {
  return defineExecutor({
    role: 'validator',
    name: 'question-answering/validate',
    input: z.strictObject({
      question: z.string().min(1).max(MAX_QUESTION),
      pin: Pin,
      subGoals: z.array(SubGoalRecord).min(1).max(MAX_SUB_GOALS),
      found: z.array(z.strictObject({ subGoal: SubGoalRecord, output: Retrieved })).max(MAX_SUB_GOALS),
      extra: z.array(z.strictObject({ query: z.string().max(500).nullable(), output: Retrieved })).max(100),
      answer: z.unknown(),
    }),
    output: Verdict,
    run: async ({ input, tenantId }) => {
      const { pin, found, extra } = input;
      const refs = [...new Set([...findCitations(input.answer), ...findCitations(found), ...findCitations(extra)])];
      const own = await readOwn(database, tenantId, pin, { refs, levels: levelsOf(input.subGoals) });
      const now = Date.parse(pin.validAt);
      return checkAnswer({
        ...input,
        found: found.map(({ subGoal, output }) => ({ subGoal, output: readAnew(output, own, subGoal.accessLevel) })),
        extra: extra.map(({ query, output }) => {
          const { accessLevel } = scopeOfQuery(query ?? '', input.subGoals, found, now);
          return { query, output: readAnew(output, own, accessLevel) };
        }),
        facts: [
          ...[...own.facts.values()].map((fact) => toFoundFact(fact, 0, [], 'public')),
          ...passagesOf([...found, ...extra]),
        ],
      });
    },
  });
}

/** What a search found: each fact as it was read here, and the claims against it that the search might read. */
function readAnew(output: Retrieved, own: Own, clearance: AccessLevel): Retrieved {
  const facts = output.facts.flatMap((found) => {
    // A sentence of another source can't be loaded again: it is taken from the retriever's report, which no later step
    // can change.
    if (found.fact.startsWith('source:')) return [found];
    const fact = own.facts.get(found.fact);
    return fact === undefined ? [] : [toFoundFact(fact, found.score, own.claims, clearance)];
  });
  return { ...output, facts };
}

function passagesOf(searches: readonly { readonly output: Retrieved }[]): readonly FoundFact[] {
  const all = searches.flatMap(({ output }) => output.facts.filter(({ fact }) => fact.startsWith('source:')));
  return [...new Map(all.map((found) => [found.fact as string, found])).values()];
}

type Own = {
  /** By reference. */
  readonly facts: ReadonlyMap<string, FactView>;
  readonly claims: readonly OpenClaim[];
};

/**
 * The versions asked for, and those in force at the pin about the same subjects; none that isn't believed at the pin's
 * revision. With the claims against all of them.
 */
async function readOwn(
  database: Database,
  tenantId: string,
  pin: Pin,
  { refs, levels }: { readonly refs: readonly string[]; readonly levels: readonly string[] },
): Promise<Own> {
  const scope = { role: 'cleanslate_validator', tenantId, readOnly: true } as const;
  return await withTransaction(database, scope, async (tx) => {
    const cited = await findFactVersions(tx, tenantId, refs.map(toVersion), pin.revision);
    const named = cited.filter((fact) => isBelieved(fact, pin));
    const subjects = [...new Set(named.flatMap(({ assertion }) => assertion?.subject ?? []))].slice(0, MAX_SUBJECTS);
    const related: FactView[] = [];
    for (const subject of subjects) {
      const listed = await listFactsAt(tx, tenantId, pin, { subjectPrefix: subject, limit: MAX_OF_SUBJECT });
      related.push(
        ...listed.filter((fact) => fact.assertion?.subject === subject && levels.includes(fact.accessLevel)),
      );
    }
    const facts = new Map([...named, ...related].map((fact) => [`${fact.knowledgeId}@${fact.version}`, fact]));
    const ids = [...new Set([...facts.values()].map(({ knowledgeId }) => knowledgeId))];
    return { facts, claims: await findClaimsAt(tx, tenantId, pin.revision, ids) };
  });
}

/** Up to the highest that a sub-goal may read: what lies above is not even named in a reason. */
function levelsOf(subGoals: readonly SubGoalRecord[]): readonly string[] {
  const highest = Math.max(...subGoals.map(({ accessLevel }) => AccessLevel.options.indexOf(accessLevel)));
  return AccessLevel.options.slice(0, highest + 1);
}

function isBelieved({ revisionFrom, revisionUntil, redacted }: FactView, { revision }: Pin): boolean {
  return redacted === undefined && revisionFrom <= revision && (revisionUntil === null || revision < revisionUntil);
}

function toVersion(ref: string): { knowledgeId: string; version: number } {
  const at = ref.lastIndexOf('@');
  return { knowledgeId: ref.slice(0, at), version: Number(ref.slice(at + 1)) };
}
