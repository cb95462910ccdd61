import type { Socket } from 'node:net';
import type { SessionClient } from './session-sharing.ts';
import {
  buildError,
  buildMessage,
  buildQuery,
  buildWelcome,
  CANCEL_REQUEST,
  GSS_REQUEST,
  type Message,
  PROTOCOL_3_0,
  renameStatement,
  SSL_REQUEST,
  splitMessages,
} from './wire.ts';

const ENDS_UNIT = new Set(['Q', 'S', 'H', 'F']);
const COPY_IN = /^\s*copy\b[^;]*\bfrom\s+stdin\b/i;

const COPY_REFUSAL = buildQuery(
  "DO $$ BEGIN RAISE feature_not_supported USING MESSAGE = 'the embedded database has no COPY FROM STDIN'; END $$",
);

let statements = 0;

/** One socket: the startup handshake, then messages gathered into units that the session executes in one go. */
export class ClientConnection implements SessionClient {
  readonly #socket: Socket;
  readonly #parameters: Readonly<Record<string, string>>;
  readonly #onUnit: () => void;
  /** Prepared statements of all clients live in one session, so each gets a name of its own there. */
  readonly #statementNames = new Map<string, string>();
  #received: Buffer = Buffer.alloc(0);
  #hasStarted = false;
  #gathered: Buffer[] = [];
  #units: Buffer[] = [];
  isGone = false;

  constructor(socket: Socket, parameters: Readonly<Record<string, string>>, onUnit: () => void) {
    this.#socket = socket;
    this.#parameters = parameters;
    this.#onUnit = onUnit;
    socket.setNoDelay(true);
    socket.on('data', (data) => this.#receive(data));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#leave());
  }

  takeUnit(): Buffer | undefined {
    return this.#units.shift();
  }

  answer(bytes: Buffer): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  evict(): void {
    this.answer(
      buildError('FATAL', '25P03', 'the embedded database is one session, and this transaction was idle for too long'),
    );
    this.#socket.destroySoon();
  }

  #leave(): void {
    this.isGone = true;
    this.#units = this.#statementNames.size === 0 ? [] : [buildDeallocation([...this.#statementNames.values()])];
    this.#onUnit();
  }

  #receive(data: Buffer): void {
    this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data]);
    while (!this.#hasStarted && this.#readHandshake()) {}
    if (!this.#hasStarted) return;
    const { messages, rest } = splitMessages(this.#received);
    this.#received = rest;
    for (const message of messages) this.#gather(message);
    if (this.#units.length > 0) this.#onUnit();
  }

  #gather(message: Message): void {
    if (message.type === 'X') {
      this.#socket.end();
      return;
    }
    // PGlite would wait inside WASM for data that we can only deliver after it returned.
    const isCopyIn = message.type === 'Q' && COPY_IN.test(message.bytes.toString('utf8', 5));
    this.#gathered.push(isCopyIn ? COPY_REFUSAL : renameStatement(message, (name) => this.#toSessionName(name)));
    if (!ENDS_UNIT.has(message.type)) return;
    this.#units.push(Buffer.concat(this.#gathered));
    this.#gathered = [];
  }

  #toSessionName(name: string): string {
    if (name === '') return '';
    let sessionName = this.#statementNames.get(name);
    if (sessionName === undefined) {
      statements += 1;
      sessionName = `client_statement_${statements}`;
      this.#statementNames.set(name, sessionName);
    }
    return sessionName;
  }

  /** Handles one startup packet, which has no type letter; false while it is incomplete. */
  #readHandshake(): boolean {
    if (this.#received.length < 8) return false;
    const length = this.#received.readInt32BE(0);
    const code = this.#received.readInt32BE(4);
    if (this.#received.length < length) return false;
    this.#received = this.#received.subarray(length);
    if (code === SSL_REQUEST || code === GSS_REQUEST) {
      this.answer(Buffer.from('N'));
    } else if (code === PROTOCOL_3_0) {
      this.#hasStarted = true;
      this.answer(buildWelcome(this.#parameters, process.pid));
    } else {
      // A cancel request gets no answer in any case: there is no second process that could interrupt the first.
      if (code !== CANCEL_REQUEST)
        this.answer(buildError('FATAL', '08P01', `unsupported protocol ${code >> 16}.${code & 0xffff}`));
      this.#socket.destroySoon();
      return false;
    }
    return true;
  }
}

function buildDeallocation(names: readonly string[]): Buffer {
  return Buffer.concat([...names.map((name) => buildMessage('C', Buffer.from('S'), name)), buildMessage('S')]);
}
