import { AppError } from '@cleanslate/contracts';
import { type MsgHdrs, MsgHdrsImpl } from '@nats-io/nats-core';

const encoder = new TextEncoder();

/** Headers of a received message; names are matched exactly, as NATS does. */
export type ReceivedHeaders = {
  /** First value, or `''`. */
  get(name: string): string;
  toRecord(): Record<string, string[]>;
};

/** A name may have several values: each becomes a line. */
export type OutgoingHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Encodes once what the client would otherwise rebuild for every send of the same message. */
class EncodedHeaders extends MsgHdrsImpl {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super();
    this.#bytes = bytes;
  }

  override encode(): Uint8Array {
    return this.#bytes;
  }
}

/** Header block of an outgoing message, with its length. Throws `INVALID_INPUT` where a value would break the protocol. */
export function encodeHeaders(headers: OutgoingHeaders): { headers: MsgHdrs; bytes: number } {
  let text = 'NATS/1.0\r\n';
  for (const name of Object.keys(headers)) {
    const given = headers[name] ?? '';
    for (const value of typeof given === 'string' ? [given] : given) {
      if (/[\r\n\0]/.test(value) || !/^[!#-9;-~]+$/.test(name)) {
        throw new AppError(
          'INVALID_INPUT',
          `header ${JSON.stringify(name)} must be printable ASCII, its value one line`,
        );
      }
      text += `${name}: ${value}\r\n`;
    }
  }
  const bytes = encoder.encode(`${text}\r\n`);
  return { headers: new EncodedHeaders(bytes), bytes: bytes.length };
}

export function toReceivedHeaders(headers: MsgHdrs | undefined): ReceivedHeaders {
  return {
    get: (name) => {
      // The client's own `get` makes two lists of all names for each.
      for (const [key, values] of headers ?? []) if (key === name) return values[0] ?? '';
      return '';
    },
    toRecord: () => {
      const record: Record<string, string[]> = {};
      for (const [name, values] of headers ?? []) record[name] = [...values];
      return record;
    },
  };
}
