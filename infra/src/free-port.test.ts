import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from './free-port.ts';

test('can be listened on, and is none that the system gives to outgoing connections', async () => {
  for (let n = 0; n < 20; n++) {
    const port = await findFreePort();
    expect(port).toBeLessThan(32_768);
    const server = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
  }
});
