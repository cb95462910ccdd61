import { FactView, Pin } from '@cleanslate/contracts';
import { SANITIZE_LEVELS, type SanitizeLevel, sanitizeEvidence } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { type Database, listFactVersions, listPoliciesAt, type Tx, withTransaction } from '@cleanslate/store';
import { z } from 'zod';

/** Most versions of one subject, if every version is read to measure. */
const MAX_VERSIONS = 200;

/**
 * `pin` lets the database leave out what wasn't in force or believed, before the sanitizer. `all` reads every version
 * there ever was, so that only the sanitizer stands between the base and the agents: what `bench:contamination`
 * measures.
 */
const READS = ['pin', 'all'] as const;

/** Policy facts by subject, as in force at the task's pin, with the retriever's own read credential. */
export function retrieveExecutor(database: Database): Executor {
  return defineExecutor({
    role: 'retriever',
    name: 'contract-review/retrieve',
    input: z.strictObject({
      subjects: z.array(z.string().min(1).max(200)).min(1).max(20),
      pin: Pin,
      reads: z.enum(READS).default('pin'),
      sanitize: z.enum(SANITIZE_LEVELS).default('full'),
    }),
    output: z.strictObject({ facts: z.array(FactView) }),
    run: async ({ input, tenantId, logger }) => {
      const scope = { role: 'cleanslate_retriever', tenantId, readOnly: true } as const;
      const facts = await withTransaction(database, scope, async (tx) => {
        const pages = [];
        for (const subject of input.subjects) pages.push(await readFacts(tx, tenantId, input, subject));
        // A subject that is the beginning of another one's name finds the other's facts too.
        return [...new Map(pages.flat().map((fact) => [`${fact.knowledgeId}@${fact.version}`, fact])).values()];
      });
      const { usable, report } = keepUsable(facts, input.sanitize, input.pin);
      logger.info({ facts: usable.length, revision: input.pin.revision, ...report }, 'policy facts read at the pin');
      return { facts: usable };
    },
  });
}

async function readFacts(
  tx: Tx,
  tenantId: string,
  input: { reads: (typeof READS)[number]; pin: Pin },
  subject: string,
) {
  if (input.reads === 'pin') return await listPoliciesAt(tx, tenantId, input.pin, subject);
  const listing = { subjectPrefix: subject, confirmedFirst: true, limit: MAX_VERSIONS };
  return await listFactVersions(tx, tenantId, input.pin.revision, listing);
}

/**
 * The usable part of what was read. A fact keeps its statement word for word, because it is quoted as it was governed;
 * what the sanitizer says about its words is for the log, and for the rules that refuse a guess (`policy.ts`).
 */
function keepUsable(facts: readonly FactView[], level: SanitizeLevel, pin: Pin) {
  const items = facts.map((fact) => ({
    id: `${fact.knowledgeId}@${fact.version}`,
    content: fact.statement,
    knowledgeType: fact.knowledgeType,
    series: fact.knowledgeId,
    version: fact.version,
    validFrom: fact.validFrom,
    validUntil: fact.validUntil,
    believed: fact.revisionFrom <= pin.revision && (fact.revisionUntil ?? Number.POSITIVE_INFINITY) > pin.revision,
  }));
  const { kept, dropped } = sanitizeEvidence(items, { level, validAt: pin.validAt, now: () => performance.now() });
  const ids = new Set(kept.map(({ id }) => id));
  const flagged = kept.filter(({ flags }) => flags.length > 0).map(({ id, flags }) => ({ id, flags }));
  return {
    usable: facts.filter(({ knowledgeId, version }) => ids.has(`${knowledgeId}@${version}`)),
    report: { ...(dropped.length > 0 ? { dropped } : {}), ...(flagged.length > 0 ? { flagged } : {}) },
  };
}
