import { DocumentRef, type FactView, Pin, Verdict } from '@cleanslate/contracts';
import { sanitizeText } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { type Database, findFactVersions, listPoliciesAt, withTransaction } from '@cleanslate/store';
import { checkReport, POLICY_SUBJECTS } from '@cleanslate/workflows';
import { z } from 'zod';
import { findCitations } from './find-citations.ts';

/**
 * Tries to prove the report wrong. The document (by its SHA-256) and the facts (by its own credential) are loaded here,
 * never taken from the report it judges, which is unknown until the checklist has parsed it.
 */
export function validateExecutor(database: Database): Executor {
  return defineExecutor({
    role: 'validator',
    name: 'contract-review/validate',
    input: z.strictObject({ document: DocumentRef, pin: Pin, report: z.unknown() }),
    output: Verdict,
    run: async ({ input, documents, tenantId }) => {
      const text = await documents.read(input.document);
      const facts = await readFacts(database, tenantId, input.pin, findCitations(input.report));
      return checkReport({ text, sha256: input.document.sha256, facts, report: input.report, pin: input.pin });
    },
  });
}

/** The policies in force at the pin, and every version the report cites, in force or not. */
async function readFacts(
  database: Database,
  tenantId: string,
  pin: Pin,
  cited: readonly string[],
): Promise<readonly FactView[]> {
  const scope = { role: 'cleanslate_validator', tenantId, readOnly: true } as const;
  return await withTransaction(database, scope, async (tx) => {
    const facts: FactView[] = [];
    for (const subjectPrefix of Object.values(POLICY_SUBJECTS))
      facts.push(...(await listPoliciesAt(tx, tenantId, pin, subjectPrefix)));
    const versions = await findFactVersions(tx, tenantId, cited.map(toVersion), pin.revision);
    // A subject that is the beginning of another one's name finds the other's facts too; a cited version may be one in
    // force.
    const all = [
      ...new Map([...facts, ...versions].map((fact) => [`${fact.knowledgeId}@${fact.version}`, fact])).values(),
    ];
    // No agent may see a fact with a credential (the retriever drops it), so no report has to mention it.
    return all.filter(({ statement }) => sanitizeText(statement, 'rule').outcome === 'kept');
  });
}

function toVersion(ref: string): { knowledgeId: string; version: number } {
  const at = ref.lastIndexOf('@');
  return { knowledgeId: ref.slice(0, at), version: Number(ref.slice(at + 1)) };
}
