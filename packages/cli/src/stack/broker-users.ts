import { toNatsServerConfig } from '@cleanslate/bus';
import type { CommandContext } from '../context.ts';
import { type Credentials, principalsOf, rolesOf } from './credentials.ts';
import type { Home } from './home.ts';
import { makeHome } from './home.ts';
import { writePrivateFile } from './private-file.ts';
import { isSameProcess } from './process-identity.ts';
import { BROKER, findStack } from './stack-file.ts';

/** The broker's users with their permissions, for its configuration to include. */
export async function writeBrokerUsers(home: Home, credentials: Credentials): Promise<void> {
  const config = toNatsServerConfig({ principals: principalsOf(credentials), roles: rolesOf(credentials) });
  await writePrivateFile(home.natsAuthorization, config);
}

/** Status of changed users: in force, to be loaded by hand, or in force at the next `slate up`. */
export type UsersInForce = 'reloaded' | 'by-hand' | 'at-start';

/** Rewrites the broker's users and has the broker of this stack reload them. Connections of unchanged users stay. */
export async function renewBrokerUsers(
  { home, config }: CommandContext,
  credentials: Credentials,
): Promise<UsersInForce> {
  await makeHome(home);
  await writeBrokerUsers(home, credentials);
  const stack = await findStack(home);
  const broker = stack?.running ? stack.file.processes.find((process) => process.name === BROKER) : undefined;
  if (broker !== undefined && config.natsUrl === undefined) {
    if (isSameProcess(broker)) process.kill(broker.pid, 'SIGHUP');
    return 'reloaded';
  }
  return stack?.running || config.natsUrl !== undefined ? 'by-hand' : 'at-start';
}

/** What a person must still do, in one line; undefined if nothing. */
export function describeLeft(home: Home, users: UsersInForce): string | undefined {
  if (users === 'reloaded') return undefined;
  if (users === 'at-start') return 'the broker learns of it at the next `slate up`';
  return `now reload the broker, whose configuration includes ${home.natsAuthorization}: nats-server --signal reload`;
}
