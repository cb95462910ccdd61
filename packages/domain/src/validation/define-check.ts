import type { Verdict, VerdictReason } from '@cleanslate/contracts';
import { AppError } from '@cleanslate/contracts';
import { type Check, toVerdict } from './check.ts';

/** The outcome: reasons if the result is wrong, and what was looked at if it is not. */
export interface Asked {
  readonly reasons: readonly VerdictReason[];
  /** "12 quotes stand at their offsets": a check that looked at nothing says so. */
  readonly detail: string;
}

export interface CheckDefinition<T> {
  /** Lower case, in a verdict's list of checks. */
  readonly check: string;
  /**
   * A question whose answer could prove the result wrong. "Is it good?" could not; "does a
   * quote stand elsewhere?" could.
   */
  readonly question: string;
  /** What is needed to answer it, loaded by the validator and never taken from what is judged. */
  readonly evidenceRequired: string;
  /** A failure that doing the work again can't fix: the result is rejected instead of sent back. Default false. */
  readonly fatal?: boolean;
  /** Pure: the same input gives the same answer. An exception is an error of the validator, not a verdict. */
  readonly ask: (judged: T) => Asked;
}

export interface DefinedCheck<T> {
  readonly check: string;
  readonly question: string;
  readonly evidenceRequired: string;
  readonly ask: (judged: T) => Check;
}

const NAME = /^[a-z][a-z0-9_]{0,59}$/;
const CODE = /^[A-Z][A-Z0-9_]{0,59}$/;

/**
 * Defines a check for a validator's checklist. Throws `CONFIGURATION` for one that asks nothing, and when asked, for
 * reasons that nobody could act on.
 */
export function defineCheck<T>(definition: CheckDefinition<T>): DefinedCheck<T> {
  const { check, question, evidenceRequired, fatal } = definition;
  if (!NAME.test(check)) throw new AppError('CONFIGURATION', `check "${check}": the name must match ${NAME.source}`);
  if (!/[?？]$/.test(question.trim()))
    throw new AppError(
      'CONFIGURATION',
      `check ${check}: "${question}" is no question: ask what could prove the result wrong`,
    );
  return {
    check,
    question,
    evidenceRequired,
    ask: (judged) => {
      const { reasons, detail } = definition.ask(judged);
      for (const reason of reasons) refuseVague(check, reason);
      return { check, detail, reasons, ...(fatal === true ? { fatal } : {}) };
    },
  };
}

function refuseVague(check: string, { code, message, remedy }: VerdictReason): void {
  const fault = !CODE.test(code)
    ? `the code "${code}"`
    : message.trim() === ''
      ? 'no message'
      : remedy.trim() === ''
        ? 'no remedy'
        : null;
  if (fault !== null)
    throw new AppError(
      'CONFIGURATION',
      `check ${check} gave a reason with ${fault}: say what is wrong and what would fix it`,
    );
}

/**
 * The verdict of a checklist: it follows from the checks' reasons alone, never from words that the judged result may
 * contain.
 */
export function runChecklist<T>(checks: readonly DefinedCheck<T>[], judged: T): Verdict {
  if (checks.length === 0) throw new AppError('CONFIGURATION', 'a checklist without checks would pass anything');
  return toVerdict(checks.map(({ ask }) => ask(judged)));
}
