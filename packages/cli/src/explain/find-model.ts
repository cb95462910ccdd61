import { z } from 'zod';

const FoundModel = z.object({
  name: z.string(),
  outcome: z.string(),
  error: z.string().nullable().default(null),
  readings: z.array(z.object({ quote: z.string(), explanation: z.string() })).default([]),
  dropped: z.array(z.object({ reason: z.string(), count: z.number() })).default([]),
});
export type FoundModel = z.infer<typeof FoundModel>;

/**
 * What a model added to what rules found, for a result of whatever workflow: its `model`, if that has the right form.
 */
export function findModel(result: unknown): FoundModel | null {
  if (typeof result !== 'object' || result === null || !('model' in result)) return null;
  return FoundModel.safeParse(result.model).data ?? null;
}
