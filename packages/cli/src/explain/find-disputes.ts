import { FactRef } from '@cleanslate/contracts';
import { z } from 'zod';

const FoundDispute = z.object({
  question: z.string(),
  ruling: z.string(),
  reason: z.string(),
  lead: z.number().nullable().default(null),
  sides: z.array(
    z.object({
      fact: FactRef.nullable(),
      disputeId: z.number().nullable().default(null),
      statement: z.string(),
      sourceRef: z.string().nullable(),
      score: z.number().nullable(),
      evidence: z.array(FactRef).default([]),
    }),
  ),
});
export type FoundDispute = z.infer<typeof FoundDispute>;

const MOST = 50;

/**
 * The disagreements of a result's sources, whatever its workflow: the entries of its `disputes` that have the right
 * form.
 */
export function findDisputes(result: unknown): readonly FoundDispute[] {
  if (typeof result !== 'object' || result === null || !('disputes' in result) || !Array.isArray(result.disputes))
    return [];
  return result.disputes.slice(0, MOST).flatMap((each) => FoundDispute.safeParse(each).data ?? []);
}
