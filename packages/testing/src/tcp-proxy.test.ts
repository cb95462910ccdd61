import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startTcpProxy } from './tcp-proxy.ts';

test('what is said arrives, a cut ends both ends, and the next connection is taken', async () => {
  await using stack = new AsyncDisposableStack();
  const ends: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', (error: NodeJS.ErrnoException) => ends.push(error.code ?? ''));
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  const proxy = stack.use(await startTcpProxy((server.address() as AddressInfo).port));
  expect(proxy.cut()).toBe(0);
  const echo = async () => {
    const socket = connect(proxy.port, '127.0.0.1').on('error', () => undefined);
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).toBe('hello');
    return socket;
  };
  const open = [await echo(), await echo()];
  const broken = Promise.all(open.map((socket) => once(socket, 'error')));
  expect(proxy.cut()).toBe(2);
  expect((await broken).map(([error]) => (error as NodeJS.ErrnoException).code)).toEqual(['ECONNRESET', 'ECONNRESET']);
  await echo();
  await expect.poll(() => ends).toEqual(['ECONNRESET', 'ECONNRESET']);
});
