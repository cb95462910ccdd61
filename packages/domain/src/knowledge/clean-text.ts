import type { Candidate, FactImport, Sensitivity } from '@cleanslate/contracts';
import { applySensitivePolicy, maskSensitive, type SensitiveKind, type SensitivePolicy } from '../sensitive/index.ts';

/**
 * A candidate as it may be kept: identifiers masked, and its sensitivity raised to `personal` or `secret` if any were
 * found. Credentials are removed here already, although screening refuses the whole candidate: refused ones are kept
 * too, for the record.
 */
export function cleanCandidate(candidate: Candidate, policy: SensitivePolicy): Candidate {
  let sensitivity = candidate.sensitivity ?? 'none';
  const clean = (text: string): string => {
    const outcome = applySensitivePolicy(text, policy);
    if (outcome.outcome === 'refused') sensitivity = 'secret';
    else if (outcome.masked.length > 0) sensitivity = higher(sensitivity, 'personal');
    return outcome.outcome === 'kept' ? outcome.text : maskSensitive(text, policy);
  };
  const { assertion } = candidate;
  const cleaned = {
    ...candidate,
    statement: clean(candidate.statement),
    assertion: assertion && {
      ...assertion,
      subject: clean(assertion.subject),
      // A number with a unit is a quantity, whatever its digits add up to.
      value: assertion.unit === null ? clean(assertion.value) : assertion.value,
    },
    sourceRef: clean(candidate.sourceRef),
    tags: candidate.tags.map(clean),
  };
  return sensitivity === (candidate.sensitivity ?? 'none') ? cleaned : { ...cleaned, sensitivity };
}

function higher(a: Sensitivity, b: Sensitivity): Sensitivity {
  const order: readonly Sensitivity[] = ['none', 'personal', 'secret'];
  return order.indexOf(a) < order.indexOf(b) ? b : a;
}

/** One period of an import, masked; `refused` names what must not be imported at all. */
export type CleanedPeriod = {
  readonly statement: string;
  readonly value: string;
  readonly sensitivity: Sensitivity;
  readonly refused: readonly SensitiveKind[];
};

export function cleanPeriod(
  { statement, value }: Pick<FactImport['periods'][number], 'statement' | 'value'>,
  unit: string | null,
  policy: SensitivePolicy,
): CleanedPeriod {
  const said = applySensitivePolicy(statement, policy);
  const given =
    unit === null ? applySensitivePolicy(value, policy) : ({ outcome: 'kept', text: value, masked: [] } as const);
  const refused = [said, given].flatMap((outcome) => (outcome.outcome === 'refused' ? outcome.kinds : []));
  const masked = [said, given].some((outcome) => outcome.outcome === 'kept' && outcome.masked.length > 0);
  return {
    statement: said.outcome === 'kept' ? said.text : maskSensitive(statement, policy),
    value: given.outcome === 'kept' ? given.text : maskSensitive(value, policy),
    sensitivity: refused.length > 0 ? 'secret' : masked ? 'personal' : 'none',
    refused,
  };
}
