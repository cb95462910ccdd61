import type { VerdictReason } from '@cleanslate/contracts';
import type { Check } from '@cleanslate/domain';
import type { Analysis, ContractReport } from './schemas.ts';

/** Words by which an explanation says how binding something is. */
const FORCES = {
  duty: /\b(?:must|shall|requires?|required|asks? for|demands?|obliges?|obliged|mandatory|has to|have to)\b|必须|应当|要求|不得|须/gi,
  advice: /\b(?:should|ought to|recommends?|recommended|advises?)\b|建议|宜/gi,
  permission: /\b(?:may|can|permits?|permitted|allows?|allowed)\b|可以|许可|允许/gi,
} as const;
const NEGATION = /\b(?:not|no|none|never|neither|nor|cannot|without)\b|n['’]t\b|[不未无没]/gi;

function count(text: string, words: RegExp): number {
  return text.match(words)?.length ?? 0;
}

/** The forces of which one text speaks more often than the other. */
function moreIn(text: string, right: string): string[] {
  return Object.entries(FORCES).flatMap(([name, words]) => (count(text, words) > count(right, words) ? [name] : []));
}

/**
 * "May" is not "must", and "above" is not "not above": an explanation claims no other force than the repeated
 * comparison, and denies no more and no less. Beyond that its wording is free.
 */
export function checkForce(report: ContractReport, own: Analysis): Check {
  const wanted = new Map(
    [...own.findings, ...own.compliant].map((item) => [`${item.clause} ${item.policy}`, item.explanation]),
  );
  const claims = [
    ...report.findings.map((item, index) => ({ item, path: `findings.${index}.explanation` })),
    ...report.compliant.map((item, index) => ({ item, path: `compliant.${index}.explanation` })),
  ];
  const reasons = claims.flatMap(({ item, path }): VerdictReason[] => {
    const right = wanted.get(`${item.clause} ${item.policy}`);
    // The check of judgements reports a comparison that the rules don't make.
    if (right === undefined || right === item.explanation) return [];
    const remedy = `Say: ${right}`.slice(0, 1_000);
    const more = moreIn(item.explanation, right);
    if (more.length > 0) {
      const message = `The explanation speaks of ${more.join(' and ')} where the comparison with ${item.policy} does not.`;
      return [{ code: 'FORCE_DIFFERS', path, message, remedy }];
    }
    const [said, wants] = [count(item.explanation, NEGATION), count(right, NEGATION)];
    if (said === wants) return [];
    const message = `The explanation denies ${said} times, the comparison with ${item.policy} ${wants} times.`;
    return [{ code: 'POLARITY_DIFFERS', path, message, remedy }];
  });
  return {
    check: 'force',
    detail: `${claims.length} explanations bind, advise, permit and deny as the comparisons do.`,
    reasons,
  };
}
