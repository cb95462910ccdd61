import type { z } from 'zod';
import type { baseConfig } from '../config/config.ts';
import type { Metrics } from '../health/metrics.ts';
import { createOtlpSender } from './otlp.ts';
import { SpanQueue } from './span-queue.ts';
import { createTracer, PASSING_TRACER, type Tracer } from './tracer.ts';

type TracingConfig = Pick<
  z.infer<typeof baseConfig>,
  'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_TRACES_SAMPLER_ARG'
>;

const EXPORT_TIMEOUT_MS = 10_000;

/** A tracer that exports if an endpoint is configured, and otherwise only passes trace context on. */
export function openTracer(service: string, config: TracingConfig, metrics: Metrics): Tracer {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = {} } = config;
  const exported = metrics.counter('slate_spans_exported_total', 'Spans that the trace collector took');
  const dropped = metrics.counter('slate_spans_dropped_total', 'Spans lost: the collector was away, slow or refused');
  if (endpoint === undefined) return PASSING_TRACER;
  const queue = new SpanQueue({
    send: createOtlpSender({ endpoint, headers, service, timeoutMs: EXPORT_TIMEOUT_MS }),
    onExported: (count) => exported.inc(count),
    onDropped: (count) => dropped.inc(count),
  });
  return createTracer({
    record: (span) => queue.add(span),
    close: () => queue.close(),
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
  });
}
