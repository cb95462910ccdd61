import { createServer, type Server } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import { ClientConnection } from './client-connection.ts';
import { type RawSession, SessionSharing } from './session-sharing.ts';

/** A transaction that is idle for longer is rolled back and its client cut off: it keeps all others waiting. */
const IDLE_IN_TRANSACTION_MS = 30_000;

const REPORTED_SETTINGS = [
  'server_version',
  'server_encoding',
  'client_encoding',
  'DateStyle',
  'TimeZone',
  'integer_datetimes',
  'standard_conforming_strings',
];

export interface EmbeddedServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves a PGlite on loopback to any number of clients. (Its own socket server interleaves the messages of clients
 * and keeps a transaction open whose client vanished while its BEGIN was running.)
 */
export async function serveEmbedded(
  database: PGlite,
  options: { port: number; idleInTransactionMs?: number; onBroken: (error: unknown) => void },
): Promise<EmbeddedServer> {
  const parameters = await readParameters(database);
  const session: RawSession = { execute: async (messages) => Buffer.from(await database.execProtocolRaw(messages)) };
  const sharing = new SessionSharing(session, options.idleInTransactionMs ?? IDLE_IN_TRANSACTION_MS);
  const clients = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
    const client = new ClientConnection(socket, parameters, () => {
      sharing.notify(client).catch(options.onBroken);
    });
  });
  const port = await listen(server, options.port);
  return {
    port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

async function readParameters(database: PGlite): Promise<Record<string, string>> {
  const { rows } = await database.query<{ name: string; value: string }>(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
    [REPORTED_SETTINGS],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address.port);
      else reject(new Error('The embedded server has no TCP address.'));
    });
  });
}
