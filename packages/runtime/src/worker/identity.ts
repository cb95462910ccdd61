import { randomBytes } from 'node:crypto';
import type { EnvelopeAttributes } from '@cleanslate/contracts';

/** Claims and heartbeats carry the work of many tenants; their envelope names none of them. */
const SYSTEM_TENANT = 'system';

/**
 * The identity of a worker process: a new one at every start, so that claims of a crashed process are never taken for
 * its own.
 */
export type WorkerIdentity = {
  readonly role: string;
  readonly workerId: string;
  readonly source: string;
  /** Attributes of a message about the worker, not about one tenant. */
  readonly envelope: () => EnvelopeAttributes;
};

export function newWorkerIdentity(role: string): WorkerIdentity {
  const workerId = `${role}-${randomBytes(6).toString('hex')}`;
  const source = `/services/${role}/${workerId}`;
  let n = 0;
  const envelope = () => ({
    id: `${workerId}:${++n}`,
    source,
    time: new Date().toISOString(),
    tenantid: SYSTEM_TENANT,
  });
  return { role, workerId, source, envelope };
}
