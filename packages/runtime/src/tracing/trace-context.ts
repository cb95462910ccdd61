import { randomBytes } from 'node:crypto';

/** W3C trace context: which trace, which span of it, and whether it is recorded. */
export type TraceContext = { readonly traceId: string; readonly spanId: string; readonly sampled: boolean };

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The context of a `traceparent` header; undefined if there is none or it is malformed, since it came from outside. */
export function parseTraceparent(header: string | null | undefined): TraceContext | undefined {
  const match = TRACEPARENT.exec(header ?? '');
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function toTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

export function newTraceId(): string {
  return randomBytes(16).toString('hex');
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex');
}
