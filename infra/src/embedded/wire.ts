/**
 * PostgreSQL's wire protocol, as far as the embedded server has to understand it: where messages begin and end, and
 * which of them name prepared statements. All else is passed through.
 */
export const SSL_REQUEST = 80_877_103;
export const GSS_REQUEST = 80_877_104;
export const CANCEL_REQUEST = 80_877_102;
export const PROTOCOL_3_0 = 196_608;

export interface Message {
  /** One letter. */
  readonly type: string;
  /** The whole message with its header. */
  readonly bytes: Buffer;
}

/** Cuts whole messages off the front of `buffer`; `rest` is the beginning of one that is still arriving. */
export function splitMessages(buffer: Buffer): { messages: Message[]; rest: Buffer } {
  const messages: Message[] = [];
  let at = 0;
  while (buffer.length - at >= 5) {
    const end = at + 1 + buffer.readInt32BE(at + 1);
    if (end > buffer.length) break;
    messages.push({ type: String.fromCharCode(buffer.readUInt8(at)), bytes: buffer.subarray(at, end) });
    at = end;
  }
  return { messages, rest: buffer.subarray(at) };
}

export function buildMessage(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)));
  const header = Buffer.alloc(5);
  header.write(type, 0, 'latin1');
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

export function buildQuery(sql: string): Buffer {
  return buildMessage('Q', sql);
}

export function buildError(severity: 'ERROR' | 'FATAL', code: string, text: string): Buffer {
  return buildMessage('E', `S${severity}`, `V${severity}`, `C${code}`, `M${text}`, Buffer.from([0]));
}

const readyForQuery: Buffer = buildMessage('Z', Buffer.from('I'));

/** What a server says after a startup message it accepts. */
export function buildWelcome(parameters: Readonly<Record<string, string>>, processId: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeInt32BE(processId, 0);
  return Buffer.concat([
    buildMessage('R', Buffer.alloc(4)),
    ...Object.entries(parameters).map(([name, value]) => buildMessage('S', name, value)),
    buildMessage('K', key),
    readyForQuery,
  ]);
}

/** Does `rename` to the statement name in a Parse, Bind, Describe or Close message; other messages stay as they are. */
export function renameStatement(message: Message, rename: (name: string) => string): Buffer {
  const { type, bytes } = message;
  if (type === 'P') return replaceName(bytes, 5, rename);
  if (type === 'B') return replaceName(bytes, bytes.indexOf(0, 5) + 1, rename);
  const namesStatement = (type === 'D' || type === 'C') && bytes.toString('latin1', 5, 6) === 'S';
  return namesStatement ? replaceName(bytes, 6, rename) : bytes;
}

function replaceName(bytes: Buffer, start: number, rename: (name: string) => string): Buffer {
  const end = bytes.indexOf(0, start);
  const renamed = Buffer.concat([
    bytes.subarray(0, start),
    Buffer.from(rename(bytes.toString('utf8', start, end))),
    bytes.subarray(end),
  ]);
  renamed.writeInt32BE(renamed.length - 1, 1);
  return renamed;
}
