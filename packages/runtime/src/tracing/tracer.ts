import { newSpanId, newTraceId, parseTraceparent, type TraceContext, toTraceparent } from './trace-context.ts';

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';
/** Ids, names and codes only: a span leaves the platform, so it must contain no text of a task or an error. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type FinishedSpan = {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Code of what went wrong. */
  readonly errorCode: string | undefined;
};

export type SpanOptions = {
  /** `traceparent` of the cause; without one the span is the root of a new trace. */
  readonly parent?: string | null | undefined;
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
  /** Default: now. */
  readonly startMs?: number;
};

export type Span = {
  /** For the headers of whatever this span causes; undefined if there is no trace. */
  readonly traceparent: string | undefined;
  end(outcome?: { readonly attributes?: SpanAttributes; readonly errorCode?: string | undefined }): void;
};

export type Tracer = {
  start(name: string, options?: SpanOptions): Span;
  /** Exports what is left, for at most two seconds. Never throws. */
  close(): Promise<void>;
};

/** Nothing is exported: an incoming trace context is passed on unchanged. */
export const PASSING_TRACER: Tracer = {
  start: (_, { parent } = {}) => ({ traceparent: parent ?? undefined, end: () => undefined }),
  close: async () => undefined,
};

export type TracerOptions = {
  /** Takes a finished span; must neither block nor throw. */
  readonly record: (span: FinishedSpan) => void;
  readonly close: () => Promise<void>;
  /** Share of the traces begun here that is recorded, 0 to 1. A trace begun elsewhere is recorded as its flag says. */
  readonly ratio: number;
};

export function createTracer({ record, close, ratio }: TracerOptions): Tracer {
  const start = (name: string, options: SpanOptions = {}): Span => {
    const parent = parseTraceparent(options.parent);
    if (parent !== undefined && !parent.sampled)
      return { traceparent: options.parent ?? undefined, end: () => undefined };
    const context = {
      traceId: parent?.traceId ?? newTraceId(),
      spanId: newSpanId(),
      sampled: parent !== undefined || Math.random() < ratio,
    };
    const { kind = 'internal', attributes = {}, startMs = nowMs() } = options;
    let ended = false;
    const end: Span['end'] = (outcome = {}) => {
      if (ended || !context.sampled) return;
      ended = true;
      record({
        name,
        kind,
        context,
        startMs,
        parentSpanId: parent?.spanId,
        errorCode: outcome.errorCode,
        endMs: Math.max(startMs, nowMs()),
        attributes: { ...attributes, ...outcome.attributes },
      });
    };
    return { traceparent: toTraceparent(context), end };
  };
  return { start, close };
}

/** The wall clock, so that spans of several processes can be compared, with the fractions of the monotonic clock. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
