import { setTimeout as sleep } from 'node:timers/promises';
import type { FinishedSpan, SpanAttributes } from './tracer.ts';

export type OtlpOptions = {
  /** `http://collector:4318`: `/v1/traces` is added, as the specification says. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string;
  /** For one batch with all its tries. Milliseconds. */
  readonly timeoutMs: number;
};

const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
const STATUS_ERROR = 2;
/** What the specification calls retryable; anything else will be refused again. */
const RETRYABLE = new Set([429, 502, 503, 504]);
const AGAIN_MS = 500;

/**
 * Sends batches to a collector as OTLP/HTTP in JSON; rejects if the collector did not accept one in time. Hand-written
 * because the official exporter costs each process 40 MB and 150 ms for one POST (docs/decisions/0021).
 */
export function createOtlpSender(options: OtlpOptions): (spans: readonly FinishedSpan[]) => Promise<void> {
  const url = `${options.endpoint.replace(/\/+$/, '')}/v1/traces`;
  const headers = { 'content-type': 'application/json', ...options.headers };
  return async (spans) => {
    const body = JSON.stringify(toRequest(options.service, spans));
    const signal = AbortSignal.timeout(options.timeoutMs);
    for (let tries = 1; ; tries++) {
      const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
      await response.body?.cancel();
      if (response.ok) return;
      if (!RETRYABLE.has(response.status)) throw new Error(`the collector answered ${response.status}`);
      const afterMs = Number(response.headers.get('retry-after')) * 1_000 || AGAIN_MS * 2 ** tries;
      await sleep(afterMs, undefined, { signal });
    }
  };
}

function toRequest(service: string, spans: readonly FinishedSpan[]) {
  const resource = { attributes: toAttributes({ 'service.name': service, 'service.namespace': 'cleanslate' }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'cleanslate' }, spans: spans.map(toSpan) }] }] };
}

function toSpan({ name, kind, context, parentSpanId, startMs, endMs, attributes, errorCode }: FinishedSpan) {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    flags: 1,
    name,
    kind: KINDS[kind],
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    startTimeUnixNano: toNano(startMs),
    endTimeUnixNano: toNano(endMs),
    attributes: toAttributes(errorCode === undefined ? attributes : { ...attributes, 'error.type': errorCode }),
    status: errorCode === undefined ? {} : { code: STATUS_ERROR },
  };
}

function toAttributes(attributes: SpanAttributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));
}

/** 64-bit integers are strings in OTLP's JSON. */
function toValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function toNano(ms: number): string {
  return (BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.round((ms % 1) * 1e6))).toString();
}
