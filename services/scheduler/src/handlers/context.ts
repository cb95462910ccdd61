import type { Bus, Publisher, PulledMessage } from '@cleanslate/bus';
import { type ConsumerSpec, consumersFor, isAppError } from '@cleanslate/contracts';
import { parseTraceparent, type Tracer } from '@cleanslate/runtime/service';
import type { Ledger } from '../ledger/ledger.ts';
import { SOURCE } from '../source.ts';

/** What every handler of the scheduler works with. */
export type HandlerContext = {
  readonly bus: Bus;
  readonly publisher: Publisher;
  readonly ledger: Ledger;
  readonly tracer: Tracer;
  readonly onProblem: (problem: string) => void;
  /** How long a message of a newer version waits for a scheduler that reads it. */
  readonly rolloutMs: number;
};

/**
 * Deliveries of a submit or a report in a newer version than ours, some seconds in all:
 * somebody waits for what comes of it.
 */
export const NEWER_TRIES = 3;

function consumer(durable: string): ConsumerSpec {
  const found = consumersFor([]).find((spec) => spec.durable === durable);
  if (found === undefined) throw new Error(`the stream table has no durable "${durable}"`);
  return found;
}

export const CONSUMERS = {
  intake: consumer('scheduler-intake'),
  reports: consumer('scheduler-reports'),
  settled: consumer('scheduler-settled'),
  deadLetters: consumer('scheduler-dlq'),
} as const;

const AGAIN_MS = [500, 1_000, 2_000, 5_000, 10_000];

/** An outage: the message stays, and comes again with growing gaps. */
export function handBack(context: HandlerContext, message: PulledMessage, error: unknown): void {
  context.onProblem(`${message.subject}: ${error instanceof Error ? error.message : String(error)}`);
  message.nak(AGAIN_MS[Math.min(message.deliveries, AGAIN_MS.length) - 1] ?? 10_000);
}

/**
 * Data exceptions and constraint violations: the same message would fail for ever. Any other database
 * error may be gone the next time.
 */
const MESSAGE_STATES = /^2[23]/;

/** True where the message is at fault, not its moment: it is refused then, and handed back otherwise. */
export function isMessageFault(error: unknown): boolean {
  if (isAppError(error)) return error.disposition !== 'retryable';
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && MESSAGE_STATES.test(error.code);
}

/** W3C trace context, or nothing: the value goes into every doorbell and log line of the task. */
export function readTraceparent(header: string | undefined): string | null {
  return header !== undefined && parseTraceparent(header) !== undefined ? header : null;
}

/** Attributes of the reply to a request; for those that `serveEndpoint` does not answer. */
export function toReplyAttributes({ id, tenantid }: { readonly id: string; readonly tenantid: string }) {
  return {
    id: `${id}.reply`,
    source: SOURCE,
    time: new Date().toISOString(),
    tenantid,
    causationid: id,
  };
}
