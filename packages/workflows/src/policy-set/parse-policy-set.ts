import type { FactImport, FactImportSet, RequestOf } from '@cleanslate/contracts';
import { issueWords, toAppError } from '@cleanslate/contracts';
import { type ReadYaml, readYaml } from '@cleanslate/documents';
import { checkImport } from '@cleanslate/domain';
import { PolicySetFile } from './policy-set-schema.ts';

/** Facts don't depend on each other; only those of one file are imported together or not at all. */
export const HOW_TO_SPLIT =
  'put its facts into several files, each with the same `policySet:` above them, and import each: for f in policies-*.yaml; do slate fact import "$f" || break; done';

/**
 * A policy set in YAML → the request that imports it. Times may be plain dates (midnight UTC) or carry an offset.
 * Throws `INVALID_INPUT` naming file, line, field and remedy; nothing is guessed, and nothing unknown is skipped.
 */
export function parsePolicySet(yaml: string | Uint8Array, file = 'policy set'): RequestOf<typeof FactImportSet> {
  const read = readYaml(yaml, file, { holds: 'one policy set', needs: 'policySet and facts', split: HOW_TO_SPLIT });
  const parsed = PolicySetFile.safeParse(read.value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = (issue?.path ?? []).map((key) => (typeof key === 'symbol' ? String(key) : key));
    const what = issue === undefined ? 'has another form' : issueWords(issue, read.value);
    throw read.fault(path, what, 'see infra/samples/policies-en.yaml for the form');
  }
  const { policySet, facts } = parsed.data;
  const imports = facts.map(toFactImport);
  checkPeriods(imports, facts, read);
  return { sourceRef: policySet.source, sourceType: policySet.sourceType, facts: imports };
}

type PolicyFact = PolicySetFile['facts'][number];

function toFactImport(fact: PolicyFact): FactImport {
  const { id, subject, predicate, unit, polarity, modality, knowledgeType, tags } = fact;
  const periods = 'periods' in fact ? fact.periods : [fact];
  return {
    knowledgeId: id,
    subject,
    predicate,
    unit,
    polarity,
    modality,
    knowledgeType,
    tags,
    periods: periods.map(({ value, statement, validFrom, validUntil }) => ({
      value,
      statement,
      validFrom: toUtc(validFrom),
      validUntil: toUtc(validUntil),
    })),
  };
}

function toUtc(time: string | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** The maintainer's own check, so that a fault is found before anything is sent, with its line. */
function checkPeriods(imports: readonly FactImport[], facts: readonly PolicyFact[], read: ReadYaml): void {
  try {
    checkImport(imports);
  } catch (error) {
    const { message } = toAppError(error);
    const [, at, period, key] =
      /^facts\.(\d+)(?:\.periods\.(\d+))?(?:\.(statement|subject|predicate))?/.exec(message) ?? [];
    const index = Number(at);
    const fact = facts[index];
    const inPeriods = period !== undefined && fact !== undefined && 'periods' in fact;
    const path = [
      'facts',
      index,
      ...(inPeriods ? ['periods', Number(period)] : []),
      ...(key === undefined ? [] : [key]),
    ];
    const [what = message, ...remedy] = message.replace(/^facts[^ :]*(?::| of)? /, '').split(': ');
    throw read.fault(path, what, remedy.join(': ') || 'correct it');
  }
}
