import { createServer } from 'node:net';

/** Asks the system for a loopback TCP port that is free now; another process may still take it before you do. */
export async function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('The probe socket has no TCP address.'));
      });
    });
  });
}
