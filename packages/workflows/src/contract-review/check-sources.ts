import type { FactView, VerdictReason } from '@cleanslate/contracts';
import { pageOf, pageStarts } from '@cleanslate/documents';
import { type Check, checkFactRef, checkQuote, type PinnedAt } from '@cleanslate/domain';
import type { Passage } from './clause.ts';
import type { ContractReport } from './schemas.ts';

function otherPage(path: string, said: number | undefined, page: number | undefined): VerdictReason {
  const is = page === undefined ? 'The document has no pages' : `The quote stands on page ${page}`;
  return {
    code: 'OTHER_PAGE',
    path,
    message: `${is}, not ${said === undefined ? 'on none' : `on page ${said}`}.`,
    remedy: page === undefined ? 'Leave the page out.' : `Set the page to ${page}.`,
  };
}

/** Every quote is in the document at its offsets and on its page. */
export function checkQuotes(report: ContractReport, text: string): Check {
  const reasons: VerdictReason[] = [];
  let asked = 0;
  const pages = pageStarts(text);
  const ask = (quote: string, span: Passage | null, path: string) => {
    if (span === null) return;
    asked += 1;
    const reason = checkQuote(text, { quote, span, path });
    if (reason !== null) reasons.push(reason);
    const page = pageOf(pages, span.start);
    if (span.page !== page) reasons.push(otherPage(path, span.page, page));
  };
  report.findings.forEach((item, index) => {
    ask(item.quote, item.span, `findings.${index}.quote`);
    // Without a span only the claim "missing" is possible, and that one quotes nothing.
    if ((item.span === null) !== (item.problem === 'missing') || (item.span === null && item.quote !== '')) {
      reasons.push({
        code: 'QUOTE_WITHOUT_SPAN',
        path: `findings.${index}.span`,
        message: 'A finding quotes the document at a span, unless the clause is missing.',
        remedy: 'Give quote and span, or report the clause as missing.',
      });
    }
  });
  report.compliant.forEach((item, index) => {
    ask(item.quote, item.span, `compliant.${index}.quote`);
  });
  report.model?.readings.forEach((item, index) => {
    ask(item.quote, item.span, `model.readings.${index}.quote`);
  });
  report.evidence.forEach((item, index) => {
    if (item.type !== 'document') return;
    ask(item.quote, item.span, `evidence.${index}.quote`);
    if (item.sha256 !== report.document.sha256) {
      reasons.push({
        code: 'OTHER_DOCUMENT',
        path: `evidence.${index}.sha256`,
        message: 'The evidence is from another document.',
        remedy: 'Cite the document under review.',
      });
    }
  });
  return { check: 'quotes', detail: `${asked} quotes stand at their offsets.`, reasons };
}

/** Every cited fact version exists, is in force at the pin, and says what the evidence list says it says. */
export function checkCitations(report: ContractReport, facts: readonly FactView[], pin: PinnedAt): Check {
  const reasons: VerdictReason[] = [];
  const listed = new Set(report.evidence.flatMap((item) => (item.type === 'fact' ? [item.policy] : [])));
  const cited: { readonly policy: string; readonly path: string }[] = [
    ...report.findings.map(({ policy }, index) => ({ policy, path: `findings.${index}.policy` })),
    ...report.compliant.map(({ policy }, index) => ({ policy, path: `compliant.${index}.policy` })),
    ...(report.model?.readings ?? []).map(({ policy }, index) => ({ policy, path: `model.readings.${index}.policy` })),
  ];
  for (const { policy, path } of cited) {
    const answer = checkFactRef(policy, path, facts, pin);
    if ('reason' in answer) reasons.push(answer.reason);
    if (!listed.has(policy)) {
      reasons.push({
        code: 'EVIDENCE_MISSING',
        path,
        message: `${policy} is cited but not in the evidence list.`,
        remedy: `Add the fact version ${policy} to the evidence.`,
      });
    }
  }
  report.evidence.forEach((item, index) => {
    if (item.type !== 'fact') return;
    const path = `evidence.${index}`;
    const answer = checkFactRef(item.policy, `${path}.policy`, facts, pin);
    if ('reason' in answer) {
      reasons.push(answer.reason);
      return;
    }
    const { fact } = answer;
    if (fact.statement !== item.statement || fact.validFrom !== item.validFrom || fact.validUntil !== item.validUntil) {
      reasons.push({
        code: 'FACT_MISQUOTED',
        path,
        message: `${item.policy} does not read as the evidence list has it.`,
        remedy: `It says «${fact.statement.slice(0, 500)}», from ${fact.validFrom ?? 'always'} until ${fact.validUntil ?? 'further notice'}.`,
      });
    }
  });
  return { check: 'citations', detail: `${cited.length} cited fact versions hold at the pin.`, reasons };
}
