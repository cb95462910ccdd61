import type { Clause, PresentClause } from './clause.ts';
import { explain, wordsOf } from './explain.ts';
import { extractClauses } from './extract-clauses.ts';
import { type Judgement, judge, rulesFor } from './judge.ts';
import { detectLanguage } from './language.ts';
import { type PolicyFact, type PolicyRule, type ReadPoliciesOptions, readPolicies } from './policy.ts';
import type { Analysis, CitedPolicy, Compliant, Expected, Finding, Language, Reading } from './schemas.ts';
import { findSuspicious } from './suspicious.ts';

export interface ReviewInput extends ReadPoliciesOptions {
  readonly text: string;
  /** Policy facts as they hold at the task's pin. */
  readonly facts: readonly PolicyFact[];
}

export function toReading(clause: PresentClause): Reading {
  const { value, unit, per, currency, choice, basis } = clause;
  return { value, unit, per, currency, choice, basis };
}

export function toExpected(rule: PolicyRule): Expected {
  return { predicate: rule.predicate, value: rule.value, unit: rule.unit };
}

function toFinding(rule: PolicyRule, clause: Clause, judgement: Judgement, language: Language): Finding | null {
  if (judgement.problem === null || judgement.severity === null) return null;
  return {
    clause: clause.kind,
    quote: clause.present ? clause.quote : '',
    span: clause.present ? clause.span : null,
    policy: rule.policy,
    severity: judgement.severity,
    problem: judgement.problem,
    found: clause.present ? toReading(clause) : null,
    expected: toExpected(rule),
    explanation: explain(rule, clause, judgement, language),
    confidence: clause.confidence,
  };
}

function toCompliant(rule: PolicyRule, clause: PresentClause, judgement: Judgement, language: Language): Compliant {
  return {
    clause: clause.kind,
    quote: clause.quote,
    span: clause.span,
    policy: rule.policy,
    found: toReading(clause),
    expected: toExpected(rule),
    explanation: explain(rule, clause, judgement, language),
    confidence: clause.confidence,
  };
}

export function toCitedPolicy({ policy, fact }: PolicyRule): CitedPolicy {
  return { policy, statement: fact.statement, validFrom: fact.validFrom, validUntil: fact.validUntil };
}

const WEIGHT = { HIGH: 0, MEDIUM: 1, LOW: 2 } as const;

/** Compares a contract with the policies: what deviates, what is missing, what complies. The analyzer's whole work. */
export function reviewContract({ text, facts, believeAll }: ReviewInput): Analysis {
  const language = detectLanguage(text);
  const { rules, unused } = readPolicies(facts, { believeAll });
  const clauses = extractClauses(text);
  const findings: Finding[] = [];
  const compliant: Compliant[] = [];
  const cited = new Map<string, CitedPolicy>();
  for (const clause of clauses) {
    for (const rule of rulesFor(rules, clause)) {
      const judgement = judge(rule, clause);
      const finding = toFinding(rule, clause, judgement, language);
      if (finding !== null) findings.push(finding);
      else if (clause.present) compliant.push(toCompliant(rule, clause, judgement, language));
      cited.set(rule.policy, toCitedPolicy(rule));
    }
  }
  findings.sort((left, right) => WEIGHT[left.severity] - WEIGHT[right.severity]);
  const { unusable } = wordsOf(language);
  return {
    language,
    clauses,
    findings,
    compliant,
    policies: [...cited.values()],
    suspicious: findSuspicious(text),
    unused: unused.map(({ policy, why }) => ({ policy, why: unusable(why) })),
  };
}
