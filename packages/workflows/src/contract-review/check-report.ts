import { type FactView, issueWords, type Verdict } from '@cleanslate/contracts';
import {
  type Check,
  type DefinedCheck,
  defineCheck,
  findForbiddenKey,
  holdsAt,
  type PinnedAt,
  toVerdict,
} from '@cleanslate/domain';
import { checkForce } from './check-force.ts';
import { checkClauses, checkCoverage, checkJudgements } from './check-judgements.ts';
import { checkModel } from './check-model.ts';
import { checkCitations, checkQuotes } from './check-sources.ts';
import { checkMarkdown, checkStatements } from './check-statements.ts';
import { checkUnapplied } from './check-unapplied.ts';
import { reviewContract } from './review.ts';
import { type Analysis, ContractReport } from './schemas.ts';

export interface CheckReportInput {
  /** The document as the validator itself loaded it, by its hash. */
  readonly text: string;
  /** Its SHA-256, when the validator computed it: the report must be about the same document. */
  readonly sha256?: string;
  /**
   * The policy facts as the validator itself read them: those in force at the pin, and every version the report cites.
   */
  readonly facts: readonly FactView[];
  /** The result to be judged; nothing in it is believed. */
  readonly report: unknown;
  readonly pin: PinnedAt;
}

function checkSchema(report: unknown): { readonly check: Check; readonly report: ContractReport | null } {
  const detail = 'Every key and enumerated value is one that the schema names.';
  const forbidden = findForbiddenKey(report);
  if (forbidden !== null) {
    const reason = {
      code: 'FORBIDDEN_KEY',
      path: forbidden,
      message: `The report carries "${forbidden}".`,
      remedy: 'Report findings only; how they were reached stays with the agent.',
    };
    return { check: { check: 'schema', detail, reasons: [reason] }, report: null };
  }
  const parsed = ContractReport.safeParse(report);
  if (parsed.success) return { check: { check: 'schema', detail, reasons: [] }, report: parsed.data };
  const reasons = parsed.error.issues.slice(0, 20).map((issue) => ({
    code: 'SCHEMA_INVALID',
    path: issue.path.join('.'),
    message: `${issue.path.join('.') || 'report'}: ${issueWords(issue)}.`,
    remedy: 'Return the report exactly as its schema says.',
  }));
  return { check: { check: 'schema', detail, reasons }, report: null };
}

/** A report on another document or another pin can't be fixed by doing the work again on this one. */
function checkSubject(report: ContractReport, { sha256, pin }: CheckReportInput): Check {
  const reasons = [];
  if (sha256 !== undefined && report.document.sha256 !== sha256) {
    reasons.push({
      code: 'OTHER_DOCUMENT',
      path: 'document.sha256',
      message: `The report is about ${report.document.sha256}, the task about ${sha256}.`,
      remedy: 'Review the document of the task.',
    });
  }
  if (report.pin.validAt !== pin.validAt || report.pin.revision !== pin.revision) {
    reasons.push({
      code: 'OTHER_PIN',
      path: 'pin',
      message: `The report is pinned to ${report.pin.validAt} (revision ${report.pin.revision}), the task to ${pin.validAt} (revision ${pin.revision}).`,
      remedy: 'Read the knowledge at the pin of the task.',
    });
  }
  return {
    check: 'subject',
    detail: 'The report is about the document and the pin of the task.',
    reasons,
    fatal: true,
  };
}

interface Judged {
  readonly report: ContractReport;
  /** What the rules make of the validator's own copies. */
  readonly own: Analysis;
  readonly input: CheckReportInput;
}

const COPY = 'the document by its SHA-256';
const FACTS = 'the fact versions, read by the validator itself';

/** The questions that could prove a report wrong. */
export const CHECKLIST: readonly DefinedCheck<Judged>[] = [
  defineCheck({
    check: 'subject',
    question: 'Is the report about another document, or another moment of knowledge?',
    evidenceRequired: 'the hash of the document and the pin of the task',
    fatal: true,
    ask: ({ report, input }: Judged) => checkSubject(report, input),
  }),
  defineCheck({
    check: 'quotes',
    question: 'Does a quote stand elsewhere in the document, on another page, or nowhere?',
    evidenceRequired: COPY,
    ask: ({ report, input }: Judged) => checkQuotes(report, input.text),
  }),
  defineCheck({
    check: 'citations',
    question: 'Is a cited fact version unknown, not valid at the pin, or quoted wrong?',
    evidenceRequired: FACTS,
    ask: ({ report, input }: Judged) => checkCitations(report, input.facts, input.pin),
  }),
  defineCheck({
    check: 'judgements',
    question: 'Does reading and comparing a clause anew give another value, problem or severity?',
    evidenceRequired: `${COPY}, ${FACTS}`,
    ask: ({ report, own, input }: Judged) => checkJudgements(report, own, input.facts, input.pin),
  }),
  defineCheck({
    check: 'coverage',
    question: 'Does a policy at the pin ask for a comparison that the report leaves out?',
    evidenceRequired: `${COPY}, ${FACTS}`,
    ask: ({ report, own }: Judged) => checkCoverage(report, own),
  }),
  defineCheck({
    check: 'clauses',
    question: 'Does the document say something else on a kind of clause than the list has it?',
    evidenceRequired: COPY,
    ask: ({ report, own }: Judged) => checkClauses(report, own),
  }),
  defineCheck({
    check: 'unapplied',
    question: 'Is there a policy that could not be applied, and of which the report is silent?',
    evidenceRequired: FACTS,
    ask: ({ report, own }: Judged) => checkUnapplied(report, own),
  }),
  defineCheck({
    check: 'figures',
    question: 'Does an explanation state a figure that its evidence lacks, or that something else says?',
    evidenceRequired: `${COPY}, ${FACTS}`,
    ask: ({ report, input }: Judged) => checkStatements(report, input.text, input.facts, input.pin).figures,
  }),
  defineCheck({
    check: 'dates',
    question: 'Does an explanation name a date that its evidence lacks?',
    evidenceRequired: `${COPY}, ${FACTS}`,
    ask: ({ report, input }: Judged) => checkStatements(report, input.text, input.facts, input.pin).dates,
  }),
  defineCheck({
    check: 'force',
    question:
      'Does an explanation make a duty of a recommendation or a permission, or deny what the comparison affirms?',
    evidenceRequired: `${COPY}, ${FACTS}`,
    ask: ({ report, own }: Judged) => checkForce(report, own),
  }),
  defineCheck({
    check: 'model',
    question: 'Does a reading that a model added not follow from its sentence, or speak of what the rules found?',
    evidenceRequired: `${COPY}, ${FACTS}`,
    ask: ({ report, own, input }: Judged) => checkModel(report, own, input.text, input.facts, input.pin),
  }),
  defineCheck({
    check: 'markdown',
    question: 'Does the report for people say anything that the fields do not?',
    evidenceRequired: 'the fields of the report',
    ask: ({ report }: Judged) => checkMarkdown(report),
  }),
];

/**
 * Asks everything that could prove a report wrong, on the validator's own copy of the document and the facts.
 * The decision rests on these checks alone; text inside the report can't argue with them.
 */
export function checkReport(input: CheckReportInput): Verdict {
  const { text, facts, pin } = input;
  const schema = checkSchema(input.report);
  if (schema.report === null) return toVerdict([schema.check]);
  const { report } = schema;
  const own = reviewContract({ text, facts: facts.filter((fact) => holdsAt(fact, pin)) });
  return toVerdict([schema.check, ...CHECKLIST.map(({ ask }) => ask({ report, own, input }))]);
}
