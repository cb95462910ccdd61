import type { FactView, VerdictReason } from '@cleanslate/contracts';
import { type Check, holdsAt, type PinnedAt } from '@cleanslate/domain';
import type { Clause, PresentClause } from './clause.ts';
import { judge } from './judge.ts';
import { type PolicyRule, readPolicies } from './policy.ts';
import { missingOf } from './report.ts';
import { toExpected, toReading } from './review.ts';
import { type Analysis, ClauseRecord, type Compliant, type ContractReport, type Finding } from './schemas.ts';

type Claim = {
  readonly item: Finding | Compliant;
  readonly path: string;
  readonly severity: string | null;
  readonly problem: string | null;
};

function claimsOf(report: ContractReport): Claim[] {
  return [
    ...report.findings.map((item, index) => ({
      item,
      path: `findings.${index}`,
      severity: item.severity,
      problem: item.problem,
    })),
    ...report.compliant.map((item, index) => ({ item, path: `compliant.${index}`, severity: null, problem: null })),
  ];
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function describe({ value, unit, per, choice, basis }: ReturnType<typeof toReading>): string {
  return value === null ? (choice ?? basis) : `${value} ${unit ?? ''}${per === null ? '' : ` per ${per}`}`;
}

/** What the validator's own reading of the quoted passage says against the claim. */
function askReading(claim: Claim, clause: PresentClause): VerdictReason | null {
  const { item, path } = claim;
  const overlaps =
    item.span !== null &&
    [clause, ...clause.supporting].some(
      ({ span }) => item.span !== null && span.start < item.span.end && item.span.start < span.end,
    );
  if (!overlaps) {
    return {
      code: 'OTHER_PASSAGE',
      path: `${path}.span`,
      message: `The passage quoted for ${item.clause} is not the clause that the document's own reading finds.`,
      remedy: `Quote ${clause.span.start}–${clause.span.end}.`,
    };
  }
  const own = toReading(clause);
  if (item.found !== null && same(item.found, own)) return null;
  return {
    code: 'VALUE_MISREAD',
    path: `${path}.found`,
    message: `The document says ${describe(own)}, the report ${item.found === null ? 'nothing' : describe(item.found)}.`,
    remedy: `Report ${describe(own)}.`,
  };
}

function askRule(claim: Claim, rule: PolicyRule, clause: Clause): VerdictReason[] {
  const { item, path } = claim;
  const reasons: VerdictReason[] = [];
  const expected = toExpected(rule);
  if (!same(item.expected, expected)) {
    reasons.push({
      code: 'EXPECTED_MISREAD',
      path: `${path}.expected`,
      message: `${rule.policy} asks for ${expected.predicate} ${expected.value}, not ${item.expected.predicate} ${item.expected.value}.`,
      remedy: `Set expected to ${JSON.stringify(expected)}.`,
    });
  }
  const own = judge(rule, clause);
  if (own.problem !== claim.problem) {
    const says = own.problem ?? 'compliant';
    reasons.push({
      code: 'PROBLEM_DIFFERS',
      path: `${path}.problem`,
      message: `Compared with ${rule.policy} the clause is ${says}, not ${claim.problem ?? 'compliant'}.`,
      remedy: `Report it as ${says}.`,
    });
  } else if (own.severity !== claim.severity) {
    reasons.push({
      code: 'SEVERITY_DIFFERS',
      path: `${path}.severity`,
      message: `The comparison with ${rule.policy} gives ${own.severity ?? 'none'}, not ${claim.severity ?? 'none'}.`,
      remedy: `Set the severity to ${own.severity ?? 'none'}.`,
    });
  }
  return reasons;
}

/**
 * Each claim, read and compared again: is a "missing" clause really missing, is the value there, does the severity
 * follow?
 */
export function checkJudgements(
  report: ContractReport,
  own: Analysis,
  facts: readonly FactView[],
  pin: PinnedAt,
): Check {
  const { rules } = readPolicies(facts.filter((fact) => holdsAt(fact, pin)));
  const claims = claimsOf(report);
  const reasons = claims.flatMap((claim): VerdictReason[] => {
    const { item, path } = claim;
    const clause = own.clauses.find(({ kind }) => kind === item.clause);
    const rule = rules.find(({ policy }) => policy === item.policy);
    if (clause === undefined) return [];
    if (claim.problem === 'missing' && clause.present) {
      return [
        {
          code: 'CLAUSE_NOT_MISSING',
          path,
          message: `The document has a clause on ${item.clause} at ${clause.span.start}–${clause.span.end}.`,
          remedy: 'Read that clause and compare it with the policy.',
        },
      ];
    }
    if (claim.problem !== 'missing' && !clause.present) {
      return [
        {
          code: 'CLAUSE_NOT_FOUND',
          path,
          message: `The document has no clause on ${item.clause}.`,
          remedy: 'Report the clause as missing.',
        },
      ];
    }
    const reading = clause.present ? askReading(claim, clause) : null;
    // The check of citations reports an unknown or outdated rule.
    const judged =
      rule === undefined
        ? []
        : rule.kind === item.clause
          ? askRule(claim, rule, clause)
          : [
              {
                code: 'OTHER_POLICY',
                path: `${path}.policy`,
                message: `${item.policy} is about ${rule.kind}, not ${item.clause}.`,
                remedy: 'Cite the policy on this kind of clause.',
              },
            ];
    return reading === null ? judged : [reading, ...judged];
  });
  return {
    check: 'judgements',
    detail: `${claims.length} comparisons were made again with the same outcome.`,
    reasons,
  };
}

/** Nothing that the facts at the pin ask about may be left out, and the counts must be those of the lists. */
export function checkCoverage(report: ContractReport, own: Analysis): Check {
  const said = new Set(claimsOf(report).map(({ item }) => `${item.clause} ${item.policy}`));
  const wanted = [
    ...own.findings.map((item, index) => ({ item, path: `findings.${index}` })),
    ...own.compliant.map((item) => ({ item, path: 'compliant' })),
  ];
  const reasons: VerdictReason[] = wanted
    .filter(({ item }) => !said.has(`${item.clause} ${item.policy}`))
    .map(({ item }) => ({
      code: 'COMPARISON_OMITTED',
      path: 'findings',
      message: `The report says nothing about ${item.clause} under ${item.policy}.`,
      remedy: `Add: ${item.explanation}`,
    }));
  const count = (severity: string) => report.findings.filter((finding) => finding.severity === severity).length;
  const { summary } = report;
  const counts = {
    high: count('HIGH'),
    medium: count('MEDIUM'),
    low: count('LOW'),
    compliant: report.compliant.length,
  };
  const missing = missingOf(own.findings);
  if (
    !same(
      { ...counts, missing },
      {
        high: summary.high,
        medium: summary.medium,
        low: summary.low,
        compliant: summary.compliant,
        missing: summary.missing,
      },
    )
  ) {
    reasons.push({
      code: 'SUMMARY_DIFFERS',
      path: 'summary',
      message: 'The summary does not count what the report lists.',
      remedy: `Set it to ${JSON.stringify({ ...counts, missing })}.`,
    });
  }
  return {
    check: 'coverage',
    detail: `${wanted.length} comparisons that the policies ask for are in the report.`,
    reasons,
  };
}

/** The list of all clauses is what the validator's own reading finds, kind by kind. */
export function checkClauses(report: ContractReport, own: Analysis): Check {
  const said = new Map(report.clauses.map((clause) => [clause.kind, clause]));
  const reasons = own.clauses.flatMap((clause): VerdictReason[] => {
    if (same(said.get(clause.kind) ?? null, ClauseRecord.parse(clause))) return [];
    return [
      {
        code: 'CLAUSE_DIFFERS',
        path: `clauses.${own.clauses.indexOf(clause)}`,
        message: `On ${clause.kind} the document reads ${clause.present ? `${describe(toReading(clause))} at ${clause.span.start}–${clause.span.end}` : 'nothing'}; the list says otherwise.`,
        remedy: 'List the clause as the document has it.',
      },
    ];
  });
  if (!same(report.suspicious, own.suspicious)) {
    reasons.push({
      code: 'SUSPICIOUS_DIFFERS',
      path: 'suspicious',
      message: `The document holds ${own.suspicious.length} passages that speak to a machine; the report shows others.`,
      remedy: 'Show each of them, with its offsets.',
    });
  }
  return {
    check: 'clauses',
    detail: `${own.clauses.length} kinds of clause are listed as the document has them.`,
    reasons,
  };
}
