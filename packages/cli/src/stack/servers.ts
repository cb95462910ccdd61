import { basename } from 'node:path';
import { applyTopology, connectBus } from '@cleanslate/bus';
import { isAppError, type Principal } from '@cleanslate/contracts';
import { type NatsServer, type PostgresServer, startEmbeddedPostgres, startNatsServer } from '@cleanslate/infra';
import { addRole, addTenants, type DatabaseRole, migrate, putApiKey } from '@cleanslate/store';
import { inputError } from '../input-error.ts';
import { reach } from '../reach-database.ts';
import { writeBrokerUsers } from './broker-users.ts';
import { type Credentials, databasePasswords, rolesOf, tenantsOf } from './credentials.ts';
import type { Home } from './home.ts';
import type { StackLog } from './log-file.ts';
import { findPort } from './port.ts';

export type Login = { readonly user: string; readonly password: string };

/** The broker of a stack, ours or a given one. */
export type Broker = { readonly url: string; readonly server: NatsServer | undefined; loginOf(user: string): Login };

export type BrokerOptions = {
  readonly home: Home;
  readonly credentials: Credentials;
  readonly log: StackLog;
  readonly given:
    | { readonly url: string; readonly user?: string | undefined; readonly password?: string | undefined }
    | undefined;
  /** Taken where it is free. */
  readonly port?: number | undefined;
};

/**
 * Starts nats-server with one user per principal, or uses the given one: there every service uses the given login, or
 * without one its own from `credentials.json` (the server must then include `nats-authorization.conf`). Then creates
 * streams and durables as the catalogue defines them.
 */
export async function openBroker(options: BrokerOptions): Promise<Broker> {
  const { home, credentials, given } = options;
  await writeBrokerUsers(home, credentials);
  const loginOf = (user: string): Login =>
    given?.user === undefined
      ? { user, password: credentials.nats[user] ?? '' }
      : { user: given.user, password: given.password ?? '' };
  let server: NatsServer | undefined;
  if (!given) {
    const port = await findPort(options.port);
    const config = `include ${basename(home.natsAuthorization)}`;
    server = await startNatsServer({ dir: home.nats, config, port, log: options.log.of('nats-server') });
  }
  const broker = { url: given?.url ?? server?.url ?? '', server, loginOf };
  try {
    await makeTopology(broker, rolesOf(credentials));
    return broker;
  } catch (error) {
    await server?.stop();
    throw given && isAppError(error) && error.code === 'UNAUTHORIZED' ? refusedBy(given.url, home, error) : error;
  }
}

function refusedBy(url: string, home: Home, cause: Error): Error {
  const where = `NATS_URL (${url.replace(/\/\/[^@/]*@/, '//')})`;
  const remedy = `include ${home.natsAuthorization} in its configuration and reload it, or set NATS_USER and NATS_PASSWORD`;
  return inputError({ code: 'UNAUTHORIZED', what: 'the broker refuses our credentials', where, remedy }, cause);
}

async function makeTopology(broker: Broker, roles: readonly string[]): Promise<void> {
  const { user, password } = broker.loginOf('admin');
  const principal: Principal = { kind: 'admin' };
  await using bus = await connectBus({ servers: broker.url, principal, user, password, waitOnFirstConnectMs: 10_000 });
  await applyTopology(bus, { roles });
}

/** The database of a stack, ours (embedded) or a given one. */
export type LedgerDatabase = {
  readonly adminUrl: string;
  readonly server: PostgresServer | undefined;
  urlOf(role: DatabaseRole): string;
};

export async function openLedgerDatabase(options: {
  readonly home: Home;
  readonly credentials: Credentials;
  readonly log: StackLog;
  readonly givenUrl: string | undefined;
  readonly signal?: AbortSignal | undefined;
}): Promise<LedgerDatabase> {
  const { home, credentials, givenUrl, signal } = options;
  const server =
    givenUrl === undefined
      ? await startEmbeddedPostgres({ dir: home.database, log: options.log.of('database') })
      : undefined;
  const adminUrl = givenUrl ?? server?.adminUrl ?? '';
  // A migration can't be cancelled, but without its server it ends, and what it had not committed is undone.
  const onAbort = () => void server?.stop();
  try {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', onAbort, { once: true });
    const prepare = async () => {
      await migrate({ adminUrl, passwords: databasePasswords(credentials) });
      await addTenants(adminUrl, tenantsOf(credentials));
      for (const [tenantId, key] of Object.entries(credentials.apiKeys)) await putApiKey(adminUrl, tenantId, key);
      for (const role of rolesOf(credentials)) await addRole(adminUrl, role);
    };
    await (server ? prepare() : reach(prepare()));
  } catch (error) {
    await server?.stop();
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
  const urlOf = (role: DatabaseRole) => {
    const url = new URL(adminUrl);
    url.username = role;
    url.password = credentials.database[role] ?? '';
    return url.href;
  };
  return { adminUrl, server, urlOf };
}
