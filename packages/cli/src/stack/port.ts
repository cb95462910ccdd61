import { createServer } from 'node:net';
import { findFreePort } from '@cleanslate/infra';

/** The preferred port if nobody listens on it, otherwise any free one. */
export async function findPort(preferred: number | undefined): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  return await findFreePort();
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
