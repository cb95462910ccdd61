import {
  AppError,
  type ConsumerSpec,
  DeadLettered,
  type ErrorBody,
  encodeMessage,
  parseSubject,
  subjects,
  toAppError,
} from '@cleanslate/contracts';
import type { Bus } from './bus.ts';
import type { Publisher } from './publisher.ts';
import type { PulledMessage } from './pulled-message.ts';

export type DeadLetterOptions = {
  readonly bus: Bus;
  readonly publisher: Publisher;
  readonly consumer: Pick<ConsumerSpec, 'stream' | 'durable'>;
  /** `source` of the envelope: `/services/scheduler`. */
  readonly source: string;
  /** Time limit for storing the letter; after it the message is handed back. Milliseconds, default 10 s. */
  readonly timeoutMs?: number;
  /** Called each time a letter could not be stored. */
  readonly onProblem?: (problem: string) => void;
  /** Fault hook for tests: the letter is stored, the message not yet ended. */
  readonly onStored?: () => void;
};

const INFO_TIMEOUT_MS = 3_000;
const AGAIN_MS = 10_000;
/** Allows for the message's own headers, and rounding. */
const SLACK_BYTES = 4 * 1024;
const MAX_DETAILS = 3_500;

/**
 * Moves a message that nobody can read to the dead letters, with its bytes and headers, then ends it. If the letter
 * can't be stored, the message stays in its stream and comes again (nak, delayed): it is never in neither place.
 * Repetitions are one letter, by its message id. Resolves to whether the letter was stored; never throws.
 */
export async function deadLetter(options: DeadLetterOptions, message: PulledMessage, error: unknown): Promise<boolean> {
  const { publisher, consumer } = options;
  try {
    const streamCreated = await getStreamCreated(options.bus, consumer.stream);
    const body = encodeLetter(options, message, toAppError(error), streamCreated);
    const messageId = `dead:${consumer.stream}:${streamCreated}:${message.streamSequence}`;
    const subject = subjects.deadLetter(consumer.stream, consumer.durable);
    await publisher.publish(
      { stream: 'DLQ', subject, body, messageId },
      { giveUpAfterMs: options.timeoutMs ?? 10_000 },
    );
    options.onStored?.();
    message.term('dead-lettered');
    return true;
  } catch (failure) {
    const why = failure instanceof Error ? failure.message : String(failure);
    options.onProblem?.(`${message.subject}: its dead letter is not stored, the message stays and comes again: ${why}`);
    message.nak(AGAIN_MS);
    return false;
  }
}

function encodeLetter(
  options: DeadLetterOptions,
  message: PulledMessage,
  error: AppError,
  streamCreated: string,
): Uint8Array {
  const { consumer, source, bus } = options;
  const ids = parseSubject(message.subject);
  const now = new Date().toISOString();
  const attributes = {
    id: `${consumer.stream}:${message.streamSequence}:${now}`,
    source,
    time: now,
    tenantid: ids?.tenantId ?? 'unknown',
  };
  const encode = (body: string, notes: Record<string, unknown>) =>
    encodeMessage(DeadLettered, attributes, {
      stream: consumer.stream,
      streamCreated,
      streamSequence: message.streamSequence,
      consumer: consumer.durable,
      subject: message.subject,
      deliveries: message.deliveries,
      failedAt: now,
      headers,
      body,
      error: toReason(error, notes),
    });
  // JetStream accepts 64 KiB of them at most.
  const headers = message.headers.toRecord();
  const bytes = message.data.length;
  const room = Math.floor(((bus.maxPayload - SLACK_BYTES - encode('', { bodyCutFromBytes: bytes }).length) * 3) / 4);
  // Base64 adds a third to the bytes: what nearly fills the broker's limit can't be kept whole.
  const kept = Buffer.from(message.data.subarray(0, Math.max(0, room))).toString('base64');
  return encode(kept, bytes > room ? { bodyCutFromBytes: bytes } : {});
}

/**
 * A reason is kept short: the error may have echoed its whole input, and a letter that is too large could never be
 * stored.
 */
function toReason(error: AppError, notes: Record<string, unknown>): ErrorBody {
  const body = error.toBody();
  const details = JSON.stringify(body.details ?? {}).length > MAX_DETAILS ? undefined : body.details;
  const all = { ...details, ...notes };
  const { details: _, ...rest } = body;
  return Object.keys(all).length === 0 ? rest : { ...rest, details: all };
}

/** With the sequence it identifies a message even after the stream was deleted and created anew. */
async function getStreamCreated(bus: Bus, stream: string): Promise<string> {
  const reply = await bus.raw.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: INFO_TIMEOUT_MS });
  const { created } = reply.json<{ created?: string }>();
  if (created === undefined) throw new AppError('BROKER_UNAVAILABLE', `no information about stream ${stream}`);
  return new Date(created).toISOString();
}
