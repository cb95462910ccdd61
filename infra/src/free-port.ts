import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Systems take the ports of outgoing connections from 32,768 up (Linux) or higher. A server that is started anew on its
 * port must not find it taken by one of them; worst by a client of its own, which, asking for a port where nobody
 * listens, may be given that very port and talk to itself.
 */
const FROM = 12_000;
const BELOW = 32_000;
const TRIES = 100;

/** Finds a loopback TCP port that is free now; another process may still take it before you do. */
export async function findFreePort(): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const port = randomInt(FROM, BELOW);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port among ${TRIES} between ${FROM} and ${BELOW}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
