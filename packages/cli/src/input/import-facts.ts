import type { FactImport, FactImportSet, SourceType, ValueOf } from '@cleanslate/contracts';
import { findUnusable, wordsOf } from '@cleanslate/workflows';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { readPolicySet } from './read-policy-set.ts';

/** A fact that was imported although no review can apply it: most likely a typo in its rule. */
export type ImportWarning = { readonly knowledgeId: string; readonly why: string };

export type ImportedFacts = ValueOf<typeof FactImportSet> & { readonly warnings: readonly ImportWarning[] };

/** Reads and checks a policy set, then has the maintainer write it as statements of people. */
export async function importFacts(context: CommandContext, tenant: string, file: string): Promise<ImportedFacts> {
  const set = await readPolicySet(file);
  await using client = await openClient(context, tenant);
  return { ...(await client.facts.import(set)), warnings: findWarnings(set.facts, set.sourceType) };
}

/** Warnings, not refusals: the knowledge base holds facts of any kind, and another workflow may know the rule. */
export function findWarnings(facts: readonly FactImport[], sourceType?: SourceType): ImportWarning[] {
  const { unusable } = wordsOf('en');
  return facts.flatMap(({ knowledgeId, periods, ...assertion }) => {
    const reasons = periods.flatMap(({ value, statement }) => {
      const why = findUnusable({ ...assertion, value }, { statement, sourceType });
      return why === null ? [] : [unusable(why)];
    });
    return [...new Set(reasons)].map((why) => ({ knowledgeId, why }));
  });
}
