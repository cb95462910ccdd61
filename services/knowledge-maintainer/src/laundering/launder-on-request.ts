import type { KnowledgeLaunder, LaunderReport, RequestOf } from '@cleanslate/contracts';
import type { Database } from '@cleanslate/store';
import type { Answered, Call } from '../handlers/answer-once.ts';
import { launder, previewLaundering } from './launder.ts';
import type { LaunderingMetrics } from './laundering-metrics.ts';

/** A person's run, or its preview. A repetition runs again: what was done leaves nothing to do. */
export async function launderOnRequest(
  database: Database,
  { tenantId, data }: Call<RequestOf<typeof KnowledgeLaunder>>,
  metrics: LaunderingMetrics,
): Promise<Answered<LaunderReport>> {
  if (data.dryRun) return { reply: await previewLaundering(database, tenantId), outbox: [] };
  const run = await launder(database, tenantId, 'person');
  metrics.ran(run);
  return { reply: run.report, outbox: run.outbox };
}
