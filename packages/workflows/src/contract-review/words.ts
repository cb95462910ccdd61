import type { ClauseKind, PresentClause } from './clause.ts';
import type { Force, Measure, Unusable } from './policy.ts';
import type { Problem } from './schemas.ts';

/** What a rule requires, and how strongly: no sentence may turn a recommendation into a duty. */
export interface Wanted {
  readonly text: string;
  readonly force: Force;
}

/** The words of one language. Sentences are built from them, so that both languages say the same things. */
export interface Words {
  readonly kinds: Readonly<Record<ClauseKind, string>>;
  readonly severities: Readonly<Record<'LOW' | 'MEDIUM' | 'HIGH', string>>;
  /** "45 days", "1.5% per month", "the fees paid". */
  reading(clause: PresentClause): string;
  /** "30 days", "18% per year". */
  measured(value: string, measure: Measure, unit: string | null): string;
  /** "at most 30 days". */
  bound(bound: 'max' | 'min', measured: string): string;
  required(kind: ClauseKind, force: Force): string;
  /** "California or New York". */
  oneOf(accepted: readonly string[]): string;
  complies(kind: ClauseKind, reading: string, converted: string | null, wanted: Wanted): string;
  deviates(kind: ClauseKind, problem: Problem, reading: string, converted: string | null, wanted: Wanted): string;
  missing(kind: ClauseKind, wanted: Wanted): string;
  converted(measured: string, factor: string, measure: Measure): string;
  notes(clause: PresentClause): string;
  /** Why a policy could not be applied. */
  unusable(why: Unusable): string;
}

/** What somebody wrote, no longer than a reader needs to recognise it. */
export function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}
