import { AppError } from '@cleanslate/contracts';
import type { Msg, MsgHdrs } from '@nats-io/nats-core';
import type { MsgImpl } from '@nats-io/nats-core/internal';

/** Headers of a received message; names are matched exactly, as in NATS. */
export type ReceivedHeaders = {
  /** First value, or `''`. */
  get(name: string): string;
  toRecord(): Record<string, string[]>;
};

/** A name may have several values: each becomes a line. */
export type OutgoingHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * Everything the client asks of headers it sends: it would otherwise build them anew for every send of the same
 * message.
 */
class EncodedHeaders {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  encode(): Uint8Array {
    return this.#bytes;
  }
}

const NAME = /^[!#-9;-~]+$/;
const LINE_BREAK = /[\r\n\0]/;

/**
 * Header block of an outgoing message, with its length; `messageId` becomes its `Nats-Msg-Id`. Throws `INVALID_INPUT`
 * if a value would break the protocol.
 */
export function encodeHeaders(
  headers: OutgoingHeaders,
  messageId?: string,
): { readonly headers: MsgHdrs; readonly bytes: number } {
  let text = 'NATS/1.0\r\n';
  for (const name in headers) {
    const given = headers[name] ?? '';
    if (typeof given === 'string') text += toLine(name, given);
    else for (const value of given) text += toLine(name, value);
  }
  if (messageId !== undefined) text += toLine('Nats-Msg-Id', messageId);
  const bytes = Buffer.from(`${text}\r\n`);
  return { headers: new EncodedHeaders(bytes) as unknown as MsgHdrs, bytes: bytes.length };
}

function toLine(name: string, value: string): string {
  if (!LINE_BREAK.test(value) && NAME.test(name)) return `${name}: ${value}\r\n`;
  throw new AppError('INVALID_INPUT', `header ${JSON.stringify(name)} must be printable ASCII, its value one line`);
}

export function toReceivedHeaders(message: Msg): ReceivedHeaders {
  return new MessageHeaders(message);
}

/** The client builds a map of lists of all headers before it returns the first; this searches the text for one. */
class MessageHeaders implements ReceivedHeaders {
  readonly #message: Msg;
  #text: string | undefined;

  constructor(message: Msg) {
    this.#message = message;
  }

  get(name: string): string {
    this.#text ??= readBlock(this.#message);
    const at = this.#text.indexOf(`\r\n${name}:`);
    if (at < 0) return '';
    const from = at + name.length + 3;
    const end = this.#text.indexOf('\r\n', from);
    return this.#text.slice(from, end < 0 ? undefined : end).trim();
  }

  toRecord(): Record<string, string[]> {
    const record: Record<string, string[]> = {};
    for (const [name, values] of this.#message.headers ?? []) record[name] = [...values];
    return record;
  }
}

/** The client keeps a message as it arrived: `hdr` bytes of headers (-1: none), then the body. */
function readBlock(message: Msg): string {
  const { _rdata: bytes, _msg } = message as MsgImpl;
  return _msg.hdr > 0 ? Buffer.from(bytes.buffer, bytes.byteOffset, _msg.hdr).toString() : '';
}
