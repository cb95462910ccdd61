import { FactRef } from '@cleanslate/contracts';

/** As many as a report may contain. */
const MAX_CITED = 4_000;

/** Everything in a result that has the form of a fact reference, wherever it appears. */
export function findCitations(result: unknown): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'string' && FactRef.safeParse(value).success) found.add(value);
    else if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(result);
  return [...found].slice(0, MAX_CITED);
}
