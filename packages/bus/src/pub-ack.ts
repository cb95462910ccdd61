import { AppError } from '@cleanslate/contracts';
import type { Msg } from '@nats-io/nats-core';

/**
 * The broker stored the message (or had it already, by its message id). `duplicate` does not prove that work will
 * happen.
 */
export type PubAck = { readonly seq: number; readonly duplicate: boolean };

/** `retry`: the same bytes may succeed later. */
export type PubAnswer =
  | { readonly kind: 'stored'; readonly ack: PubAck }
  | { readonly kind: 'retry'; readonly reason: string }
  | { readonly kind: 'full'; readonly reason: string }
  | { readonly kind: 'refused'; readonly error: AppError };

type AckBody = { stream?: string; seq?: number; duplicate?: boolean; error?: ApiFault };
type ApiFault = { code?: number; err_code?: number; description?: string };

/** What nearly every answer looks like: read without building an object. */
const PLAIN = /^\{"stream":"[^"\\]+", ?"seq":(\d{1,15})\}$/;

/** Reads a stream's answer to a publish; anything that isn't an answer counts as transient. */
export function parsePubAnswer(message: Msg): PubAnswer {
  if (message.data.length === 0) {
    return {
      kind: 'retry',
      reason: message.headers?.code === 503 ? 'no stream listens on the subject' : 'empty answer',
    };
  }
  const text = message.string();
  const plain = PLAIN.exec(text);
  if (plain !== null) return { kind: 'stored', ack: { seq: Number(plain[1]), duplicate: false } };
  let body: AckBody;
  try {
    body = JSON.parse(text) as AckBody;
  } catch {
    return { kind: 'retry', reason: 'the answer is not JSON' };
  }
  if (body.error) return parseFault(body.error);
  if (typeof body.seq !== 'number' || typeof body.stream !== 'string') return { kind: 'retry', reason: 'no PubAck' };
  return { kind: 'stored', ack: { seq: body.seq, duplicate: body.duplicate === true } };
}

/** `JSStreamMessageExceedsMaximumErr`: larger than the stream's `max_msg_size`. */
const MESSAGE_TOO_LARGE = 10054;
/** `JSStreamStoreFailedF`: carries "maximum messages exceeded", "maximum bytes exceeded", "… per subject exceeded". */
const STORE_FAILED = 10077;

function parseFault(fault: ApiFault): PubAnswer {
  const reason = `${fault.description ?? 'error'} (${fault.err_code ?? fault.code ?? '?'})`;
  if (fault.err_code === MESSAGE_TOO_LARGE) {
    return {
      kind: 'refused',
      error: new AppError('PAYLOAD_TOO_LARGE', `the stream takes no message this large: ${reason}`),
    };
  }
  if (fault.err_code === STORE_FAILED && /maximum/.test(fault.description ?? '')) return { kind: 'full', reason };
  // 4xx says that this message can never be stored here; 404 (no stream yet) and 5xx pass.
  const permanent = fault.code !== undefined && fault.code >= 400 && fault.code < 500 && fault.code !== 404;
  if (!permanent) return { kind: 'retry', reason };
  return {
    kind: 'refused',
    error: new AppError('INTERNAL', `the stream refuses the message: ${reason}`, { disposition: 'terminal' }),
  };
}
