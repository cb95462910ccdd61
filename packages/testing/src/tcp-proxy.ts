import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP link to a server that can be cut: what a broken switch or a rebooted load balancer does to connections. */
export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  /** Connections open now. */
  readonly size: number;
  /** Resets every connection at both ends and returns how many there were; new ones are taken at once. */
  cut(): number;
};

/** Listens on a free port of the loopback and passes every connection on to `port` there. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  const links = new Set<readonly [Socket, Socket]>();
  const server = createServer((near) => {
    const link = [near, connect(port, '127.0.0.1')] as const;
    links.add(link);
    join(link, () => links.delete(link));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    const open = [...links].filter((link) => link.every((socket) => socket.readyState === 'open'));
    for (const link of links) for (const socket of link) socket.resetAndDestroy();
    return open.length;
  };
  return {
    port: (server.address() as AddressInfo).port,
    get size() {
      return links.size;
    },
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}

/** What one end says reaches the other, its end too; a failure of one ends both at once. */
function join([near, far]: readonly [Socket, Socket], onEnd: () => void): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.setNoDelay(true);
    from.pipe(to);
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => {
      to.destroy();
      onEnd();
    });
  }
}
