import type { Tracer } from '@cleanslate/runtime';
import type { MaintainerBatch } from './handlers/settle-batch.ts';

/**
 * One span for each task of a batch; events of the batch continue it. A batch that fails has none: its messages come
 * again.
 */
export function traceBatch(tracer: Tracer, batch: MaintainerBatch): { batch: MaintainerBatch; end: () => void } {
  const spans = [...(batch.traces ?? [])].map(
    ([task, parent]) => [task, parent, tracer.start('knowledge', { parent, kind: 'consumer' })] as const,
  );
  const traces = new Map(spans.map(([task, parent, { traceparent = parent }]) => [task, traceparent]));
  return {
    batch: { ...batch, traces },
    end: () => {
      for (const [, , span] of spans) span.end();
    },
  };
}
