import type { Client } from '@cleanslate/client';
import type { FactView, TaskView } from '@cleanslate/contracts';
import type { ContractReport, Finding } from '@cleanslate/workflows';

/** What a finding rests on: a passage of the document and one version of a fact, with the source of that fact. */
export type EvidenceLink = {
  readonly clause: Finding['clause'];
  readonly severity: Finding['severity'];
  readonly quote: string;
  readonly span: Finding['span'];
  readonly policy: string;
  readonly statement: string;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly sourceRef: string;
  readonly sourceType: FactView['sourceType'];
  /** Knowledge revision since which the version has been believed. */
  readonly revision: number;
};

/** Each finding's chain, read from the knowledge base at the task's pin rather than taken from the report. */
export async function traceEvidence(client: Client, task: TaskView, report: ContractReport): Promise<EvidenceLink[]> {
  const links: EvidenceLink[] = [];
  for (const finding of report.findings) {
    const knowledgeId = finding.policy.slice(0, finding.policy.lastIndexOf('@'));
    const { fact } = await client.facts.get({ knowledgeId, ...task.pin });
    links.push({
      clause: finding.clause,
      severity: finding.severity,
      quote: finding.quote,
      span: finding.span,
      policy: `${fact.knowledgeId}@${fact.version}`,
      statement: fact.statement,
      validFrom: fact.validFrom,
      validUntil: fact.validUntil,
      sourceRef: fact.sourceRef,
      sourceType: fact.sourceType,
      revision: fact.revisionFrom,
    });
  }
  return links;
}
