import { connect, type Socket } from 'node:net';
import type pg from 'pg';

/** From PostgreSQL's protocol: replaces the version that a login would name. */
const CANCEL_REQUEST = 80_877_102;
const GIVE_UP_MS = 5_000;

/**
 * Asks the server to end what a connection runs, since nobody waits for it any more. The request needs no login and no
 * place in the pool; it names the connection by the key that the server gave it, so it can only ever hit that one. Call
 * it while `socket`, the connection's own, is open. Nobody learns whether it arrived: if it didn't (a server that is
 * away, a Unix socket), the statement's own deadline ends the query.
 */
export function cancelAtServer(client: pg.PoolClient, { remoteAddress, remotePort }: Socket): void {
  // The driver has them under these names without declaring them.
  const { processID, secretKey } = client as unknown as { readonly processID?: unknown; readonly secretKey?: unknown };
  if (remoteAddress === undefined || remotePort === undefined) return;
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return;
  const request = Buffer.alloc(16);
  for (const [place, value] of [request.length, CANCEL_REQUEST, processID, secretKey].entries())
    request.writeInt32BE(value, place * 4);
  const messenger = connect({ host: remoteAddress, port: remotePort, timeout: GIVE_UP_MS });
  messenger.on('error', () => undefined).on('timeout', () => messenger.destroy());
  messenger.resume().unref().end(request);
}
