import type { ClauseKind } from './clause.ts';
import { extractClauses } from './extract-clauses.ts';

/**
 * A clause in one line for tables of tests: "30 days", "18 percent/year", "fees_paid", "absent";
 * "+1" for a supporting passage.
 */
export function readClause(kind: ClauseKind, text: string): string {
  const clause = extractClauses(text).find((candidate) => candidate.kind === kind);
  if (clause === undefined || !clause.present) return 'absent';
  if (text.slice(clause.span.start, clause.span.end) !== clause.quote) return 'quote does not stand at its span';
  const { value, unit, per, currency, choice, basis, supporting } = clause;
  const measure = [value, currency ?? '', unit].filter((part) => part !== '').join(' ');
  const more = supporting.length === 0 ? '' : ` +${supporting.length}`;
  return `${value === null ? (choice ?? basis) : `${measure}${per === null ? '' : `/${per}`}`}${more}`;
}
