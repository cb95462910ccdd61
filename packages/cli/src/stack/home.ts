import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';

/** Where a local stack keeps its state. */
export type Home = {
  readonly root: string;
  readonly credentials: string;
  readonly stackFile: string;
  /** Held while they are changed. */
  readonly credentialsLock: string;
  /** Held by the one that starts or runs a stack here. */
  readonly lock: string;
  readonly nats: string;
  /** Users and permissions of the broker, beside its own configuration, which includes it. */
  readonly natsAuthorization: string;
  readonly database: string;
  readonly logs: string;
  /** Everything that every process logs, as JSON lines. */
  readonly log: string;
  /** The output of a detached `slate up`. */
  readonly upLog: string;
  /** Shared by all stacks of a checkout: later starts read what the first one compiled. */
  readonly compileCache: string;
};

export function toHome(root: string): Home {
  const logs = join(root, 'log');
  return {
    root,
    credentials: join(root, 'credentials.json'),
    credentialsLock: join(root, 'credentials.lock'),
    stackFile: join(root, 'stack.json'),
    lock: join(root, 'stack.lock'),
    nats: join(root, 'nats'),
    natsAuthorization: join(root, 'nats', 'nats-authorization.conf'),
    database: join(root, 'database'),
    logs,
    log: join(logs, 'stack.log'),
    upLog: join(logs, 'up.log'),
    compileCache: join(checkoutRoot, '.cleanslate', 'compile-cache'),
  };
}

/** Makes the folders; only the owner may look inside. */
export async function makeHome(home: Home): Promise<void> {
  await mkdir(home.logs, { recursive: true });
  for (const folder of [home.nats, home.database, home.logs]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o700);
  }
}
