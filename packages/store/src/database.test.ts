import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { openDatabase, withTransaction } from './database.ts';

/** A message of the PostgreSQL protocol. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const AUTHENTICATED = message('R', Buffer.from([0, 0, 0, 0]));
const READY = message('Z', Buffer.from('I'));
const SHUT_DOWN = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'));

test('a connection that breaks in the very moment it is handed out is an outage, and ends no process', async () => {
  // As a server that is being stopped answers: "ready" and "over" in one segment, read before whoever
  // asked for the connection has it.
  await using stack = new AsyncDisposableStack();
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUT_DOWN])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const database = stack.use(
    openDatabase({ url: `postgresql://someone:secret@127.0.0.1:${port}/none`, applicationName: 'test' }),
  );
  const work = withTransaction(database, { role: 'cleanslate_scheduler' }, (tx) => tx.query('SELECT 1'));
  // An error that nobody listens to is an uncaught exception, which fails this test by itself.
  await expect(work).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE', disposition: 'retryable' });
});
