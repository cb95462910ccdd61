import { z } from 'zod';

const FoundModel = z.object({
  name: z.string(),
  outcome: z.string(),
  error: z.string().nullable().default(null),
  readings: z.array(z.object({ quote: z.string(), explanation: z.string() })).default([]),
  dropped: z.array(z.object({ reason: z.string(), count: z.number() })).default([]),
});
export type FoundModel = z.infer<typeof FoundModel>;

/** What a result, of whatever workflow, says that a model added to what rules found: its `model`, where that has the form of one. */
export function findModel(result: unknown): FoundModel | null {
  if (typeof result !== 'object' || result === null || !('model' in result)) return null;
  return FoundModel.safeParse(result.model).data ?? null;
}
