import type { FactView, VerdictReason } from '@cleanslate/contracts';
import { type Check, holdsAt, type PinnedAt } from '@cleanslate/domain';
import { readAgain, toGround } from './model-reading.ts';
import { readPolicies } from './policy.ts';
import type { Analysis, ContractReport } from './schemas.ts';

/**
 * What the report says a model read: each is read again from its sentence in the validator's own copy, by the gate that
 * let it in.
 */
export function checkModel(
  report: ContractReport,
  own: Analysis,
  text: string,
  facts: readonly FactView[],
  pin: PinnedAt,
): Check {
  const readings = report.model?.readings ?? [];
  const check = { check: 'model', detail: `${readings.length} readings of a model were made again from their quotes.` };
  if (readings.length === 0) return { ...check, reasons: [] };
  const { rules } = readPolicies(facts.filter((fact) => holdsAt(fact, pin)));
  const ground = toGround(text, rules, own.clauses, own.language);
  const reasons = readings.flatMap((reading, index): VerdictReason[] => {
    const outcome = readAgain(ground, reading);
    const again = 'readings' in outcome ? outcome.readings.find(({ policy }) => policy === reading.policy) : undefined;
    if (again !== undefined && JSON.stringify(again) === JSON.stringify(reading)) return [];
    const why = 'refusal' in outcome ? outcome.refusal : 'the rules read it otherwise';
    return [
      {
        code: 'MODEL_READING_REFUSED',
        path: `model.readings.${index}`,
        message: `What a model read on ${reading.clause} does not follow from the document: ${why}.`,
        remedy: 'Leave it out: what the rules find stands by itself.',
      },
    ];
  });
  return { ...check, reasons };
}
