import { CLAUSE_KINDS, type ClauseKind } from './clause.ts';
import { renderMarkdown } from './render-markdown.ts';
import type { Analysis, ContractReport, Evidence, Finding, ReportSubject } from './schemas.ts';

/** The kinds a policy asks for that are not there. What nobody asks for is not missing. */
export function missingOf(findings: readonly Finding[]): ClauseKind[] {
  return CLAUSE_KINDS.filter((kind) =>
    findings.some(({ clause, problem }) => clause === kind && problem === 'missing'),
  );
}

/** The passages and fact versions that the findings rest on, each once, in the order of first use. */
function toEvidence(analysis: Analysis, sha256: string): Evidence[] {
  const evidence = new Map<string, Evidence>();
  for (const { quote, span } of [...analysis.findings, ...analysis.compliant, ...(analysis.model?.readings ?? [])]) {
    if (span !== null) evidence.set(`${span.start}-${span.end}`, { type: 'document', sha256, quote, span });
  }
  for (const clause of analysis.clauses) {
    // Further passages are evidence only if an explanation refers the reader to them: what nothing rests on is noise.
    if (!clause.present || !clause.notes.includes('other_values_elsewhere')) continue;
    const { span: beside } = clause;
    if (!evidence.has(`${beside.start}-${beside.end}`)) continue;
    for (const { quote, span } of clause.supporting) {
      const key = `${span.start}-${span.end}`;
      if (!evidence.has(key)) evidence.set(key, { type: 'document', sha256, quote, span, beside });
    }
  }
  for (const policy of analysis.policies) evidence.set(policy.policy, { type: 'fact', ...policy });
  return [...evidence.values()];
}

/** The deliverable from the analysis. The generator's whole work: it adds no statement of its own. */
export function generateReport(analysis: Analysis, subject: ReportSubject): ContractReport {
  const { findings, compliant, language } = analysis;
  const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
  const report = {
    document: subject.document,
    pin: subject.pin,
    language,
    summary: {
      high: count('HIGH'),
      medium: count('MEDIUM'),
      low: count('LOW'),
      compliant: compliant.length,
      missing: missingOf(findings),
    },
    findings,
    compliant,
    evidence: toEvidence(analysis, subject.document.sha256),
    unapplied: analysis.unused,
    clauses: analysis.clauses,
    suspicious: analysis.suspicious,
    ...(analysis.model === undefined ? {} : { model: analysis.model }),
  };
  return { ...report, markdown: renderMarkdown(report) };
}
