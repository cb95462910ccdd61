import type { VerdictReason } from '@cleanslate/contracts';
import type { Check } from '@cleanslate/domain';
import type { Analysis, ContractReport } from './schemas.ts';

/**
 * A policy nobody could apply hides a deviation: the report must name each one, with the reason that the validator
 * itself finds, and no other.
 */
export function checkUnapplied(report: ContractReport, own: Analysis): Check {
  const said = new Map(report.unapplied.map(({ policy, why }) => [policy, why]));
  const wanted = new Map(own.unused.map(({ policy, why }) => [policy, why]));
  const wrong = own.unused.flatMap(({ policy, why }): VerdictReason[] => {
    const given = said.get(policy);
    if (given === why) return [];
    const message =
      given === undefined
        ? `${policy} could not be applied, and the report does not say so.`
        : `${policy} could not be applied because ${why}, not because ${given}.`;
    const code = given === undefined ? 'UNAPPLIED_OMITTED' : 'UNAPPLIED_DIFFERS';
    return [{ code, path: 'unapplied', message, remedy: `List ${policy}: ${why}.` }];
  });
  const invented = report.unapplied.flatMap(({ policy }, index): VerdictReason[] =>
    wanted.has(policy)
      ? []
      : [
          {
            code: 'UNAPPLIED_INVENTED',
            path: `unapplied.${index}`,
            message: `${policy} is no policy at the pin that could not be applied.`,
            remedy: 'Remove it, and compare the clause with it where it is a rule.',
          },
        ],
  );
  return {
    check: 'unapplied',
    detail: `${wanted.size} policies that could not be applied are named.`,
    reasons: [...wrong, ...invented],
  };
}
