import { type Bus, connectBus } from '@cleanslate/bus';
import type { Principal } from '@cleanslate/contracts';
import type { Database, DatabaseOptions, DatabaseRole } from '@cleanslate/store';
import type { z } from 'zod';
import type { baseConfig } from '../config/config.ts';
import { busOptions } from './bus-options.ts';
import type { ServiceContext } from './run-service.ts';

type Context = Pick<ServiceContext<z.infer<typeof baseConfig>>, 'config' | 'logger' | 'metrics' | 'onWait'>;

/**
 * A service's connection to the broker; waits as long as it takes, since a process that ended would only be started
 * again, with ever longer pauses. Throws `UNAUTHORIZED` at once if the credentials are refused.
 */
export async function connectServiceBus(context: Context, principal: Principal): Promise<Bus> {
  const { config, logger, metrics, onWait } = context;
  const connected = metrics.gauge('slate_bus_connected', '1 while the broker is connected');
  const disconnects = metrics.counter('slate_bus_disconnects_total', 'Connections to the broker that broke');
  const refused = metrics.counter('slate_bus_refusals_total', 'Publishes and subscriptions the broker refused');
  connected.set(0);
  const options = busOptions(config, principal, logger);
  const bus = await connectBus({ ...options, waitOnFirstConnectMs: Number.POSITIVE_INFINITY, onWait });
  connected.set(1);
  bus.onStatus(({ type }) => {
    if (type === 'permission-violation') refused.inc();
    if (type === 'disconnected') disconnects.inc();
    if (type === 'disconnected' || type === 'reconnected') connected.set(bus.connected ? 1 : 0);
  });
  return bus;
}

/**
 * A service's database under its own role; waits until it answers and is migrated. Throws `UNAUTHORIZED` if the login
 * stays refused.
 */
export async function openServiceDatabase(
  context: Context & { readonly config: { readonly DATABASE_URL: string } },
  role: DatabaseRole,
  options: Omit<DatabaseOptions, 'url' | 'onConnectionError'>,
): Promise<Database> {
  const { config, logger, metrics, onWait } = context;
  // A worker without a database loads neither the store nor its driver: 4 MB.
  const { awaitDatabase, openDatabase } = await import('@cleanslate/store/ledger');
  const database = openDatabase({
    url: config.DATABASE_URL,
    ...options,
    onConnectionError: (error) => logger.warn({ err: error }, 'a database connection broke'),
  });
  const connections = metrics.gauge('slate_database_connections', 'Connections of the pool', ['state']);
  metrics.onScrape(() => {
    const { totalCount, idleCount, waitingCount } = database.pool;
    connections.set({ state: 'busy' }, totalCount - idleCount);
    connections.set({ state: 'idle' }, idleCount);
    connections.set({ state: 'wanted' }, waitingCount);
  });
  await awaitDatabase(database, role, { onWait });
  return database;
}
