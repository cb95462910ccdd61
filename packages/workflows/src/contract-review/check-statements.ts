import type { FactView } from '@cleanslate/contracts';
import {
  type Check,
  checkDates,
  checkFactRef,
  checkFigures,
  checkRoles,
  type Figure,
  type FigureRole,
  type PinnedAt,
  supportOf,
} from '@cleanslate/domain';
import { renderMarkdown } from './render-markdown.ts';
import type { ContractReport } from './schemas.ts';
import { sentencesOf } from './sentence.ts';

interface Statement {
  readonly text: string;
  readonly path: string;
  /** The quoted passage, as it is in the document. */
  readonly found: readonly string[];
  /** The cited fact. */
  readonly expected: readonly string[];
  readonly evidence: readonly string[];
}

/** A fact's statement and its assertion, in words that figures can be read from. */
function textsOf({ statement, assertion }: FactView): string[] {
  if (assertion === null) return [statement];
  const { value, unit, predicate } = assertion;
  if (predicate.endsWith('percent_per_year')) return [statement, `${value}% per year`];
  // The unit may be omitted if the predicate names it.
  if (predicate.endsWith('_days')) return [statement, `${value} days`];
  if (predicate.endsWith('_months')) return [statement, `${value} months`];
  if (predicate.endsWith('percent_of_price')) return [statement, `${value}%`];
  if (predicate.endsWith('multiple_of_fees')) return [statement, `${value} times`];
  return [statement, /^[A-Z]{3}$/.test(unit ?? '') ? `${unit} ${value}` : `${value} ${unit ?? ''}`];
}

/** The period of validity of a fact, as dates that a statement may name. */
function datesOf({ validFrom, validUntil }: FactView): string[] {
  return [validFrom, validUntil].flatMap((time) => (time === null ? [] : [time.slice(0, 10)]));
}

function statementsOf(report: ContractReport, text: string, facts: readonly FactView[], pin: PinnedAt): Statement[] {
  const all = [
    ...report.findings.map((item, index) => ({ item, path: `findings.${index}.explanation` })),
    ...report.compliant.map((item, index) => ({ item, path: `compliant.${index}.explanation` })),
  ];
  return all.map(({ item, path }) => {
    const answer = checkFactRef(item.policy, path, facts, pin);
    const fact = 'fact' in answer ? [...textsOf(answer.fact), ...datesOf(answer.fact)] : [];
    // The evidence is what the document says there, not what the report says it says.
    const quoted = item.span === null ? '' : text.slice(item.span.start, item.span.end);
    // Plain as well, because a template's 【30】日 or a page number in between hides the unit from its number.
    const passage = [quoted, ...[...sentencesOf(quoted)].map(({ plain }) => plain)];
    const evidence = [...passage, ...fact, pin.validAt.slice(0, 10)];
    return { text: item.explanation, path, found: passage, expected: fact, evidence };
  });
}

/** Fees paid are one time the fees and the whole of the price, though no figure says so. */
const IMPLIED: readonly Figure[] = [
  { value: '1', unit: 'multiple', text: 'the fees paid', derived: true },
  { value: '100', unit: 'percent', text: 'the fees paid', derived: true },
  { value: '0', unit: 'days', text: 'immediately', derived: true },
  { value: '0.01', unit: 'number', text: 'percent', derived: true },
  { value: '100', unit: 'number', text: 'percent', derived: true },
];

/** Where an explanation is about the contract, and where about the policy. */
const OF_CLAUSE = /\bThe (?!policy\b)\w+|\bOther passages\b|\bNo clause\b|条款(?:中|另)|该比率|合同其他/g;
const OF_POLICY = /\bthe policy\b|\b(?:above|below) what the policy\b|政策/g;

/**
 * A figure of the policy is not the contract's: "30 days; the policy asks for 45" is not "45 days; the policy asks for
 * 30".
 */
function rolesOf({ found, expected }: Statement): readonly FigureRole[] {
  return [
    { name: 'the contract', begins: OF_CLAUSE, support: supportOf(found, IMPLIED) },
    { name: 'the policy', begins: OF_POLICY, support: supportOf(expected, IMPLIED) },
  ];
}

/** Every figure and date of every explanation is in the quoted passage or the cited fact, with the same magnitude. */
export function checkStatements(
  report: ContractReport,
  text: string,
  facts: readonly FactView[],
  pin: PinnedAt,
): { readonly figures: Check; readonly dates: Check } {
  const statements = statementsOf(report, text, facts, pin);
  const figures = statements.flatMap((statement) => checkFigures(statement, supportOf(statement.evidence, IMPLIED)));
  const dates = statements.flatMap((statement) => checkDates(statement, statement.evidence));
  const roles = statements.flatMap((statement) => checkRoles(statement, rolesOf(statement)));
  const count = statements.length;
  return {
    figures: {
      check: 'figures',
      detail: `The figures of ${count} explanations stand in their evidence, and are said of what says them.`,
      reasons: [...figures, ...roles],
    },
    dates: { check: 'dates', detail: `The dates of ${count} explanations stand in their evidence.`, reasons: dates },
  };
}

/** The report for people must say what the report for machines says: it is rendered again and compared line by line. */
export function checkMarkdown(report: ContractReport): Check {
  const { markdown, ...rest } = report;
  const own = renderMarkdown(rest);
  const check = { check: 'markdown', detail: 'The Markdown says what the fields say.' };
  if (markdown === own) return { ...check, reasons: [] };
  const ownLines = own.split('\n');
  const lines = markdown.split('\n');
  const at = lines.findIndex((line, index) => line !== ownLines[index]);
  const index = at === -1 ? lines.length : at;
  return {
    ...check,
    reasons: [
      {
        code: 'MARKDOWN_DIFFERS',
        path: 'markdown',
        message: `Line ${index + 1} of the Markdown says «${(lines[index] ?? '').slice(0, 300)}», the fields «${(ownLines[index] ?? '').slice(0, 300)}».`,
        remedy: 'Render the Markdown from the fields of the report.',
      },
    ],
  };
}
