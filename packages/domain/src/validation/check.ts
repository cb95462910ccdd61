import type { Verdict, VerdictReason } from '@cleanslate/contracts';

/** One question that could have proven a result wrong, and its outcome. */
export interface Check {
  readonly check: string;
  /** What was looked at when it passed; a check that looked at nothing says so. */
  readonly detail: string;
  readonly reasons: readonly VerdictReason[];
  /** A failure that doing the work again cannot fix. */
  readonly fatal?: boolean;
}

const MAX_REASONS = 100;
const MAX_DETAIL = 2_000;

export function clip(text: string, length = 120): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** All checks passed → pass; a fatal one failed → reject; otherwise the work goes back with the reasons. */
export function toVerdict(checks: readonly Check[]): Verdict {
  const failed = checks.filter(({ reasons }) => reasons.length > 0);
  const reasons = failed.flatMap((check) => check.reasons);
  const rejects = failed.some(({ fatal }) => fatal === true);
  return {
    decision: failed.length === 0 ? 'pass' : rejects ? 'reject' : 'rework',
    score: checks.length === 0 ? 0 : (checks.length - failed.length) / checks.length,
    checks: checks.map((check) => ({
      check: check.check,
      passed: check.reasons.length === 0,
      detail: clip(
        check.reasons.length === 0 ? check.detail : check.reasons.map(({ message }) => message).join(' '),
        MAX_DETAIL,
      ),
    })),
    reasons: reasons.slice(0, MAX_REASONS).map((reason) => ({
      ...reason,
      path: clip(reason.path, 300),
      message: clip(reason.message, MAX_DETAIL),
      remedy: clip(reason.remedy, MAX_DETAIL),
    })),
  };
}
