import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_IN_ROLES, type Principal } from '@cleanslate/contracts';
import { applyTopology, type Bus, type ConnectBusOptions, connectBus, toNatsServerConfig } from './index.ts';

export { until } from './until.ts';

/** Starts a real server: `startNatsServer` of infra, which is in a higher layer and so is passed in by the test. */
export type Launcher<S extends LaunchedServer> = (options: {
  readonly dir: string;
  readonly config: string;
}) => Promise<S>;
type LaunchedServer = { readonly url: string; stop(): Promise<void> };

/**
 * Tests only: a real broker with the catalogue's users and topology. Disposing it ends every
 * connection, then the server.
 */
export type TestBroker<S extends LaunchedServer> = AsyncDisposable & {
  readonly server: S;
  readonly admin: Bus;
  connect(principal: Principal, options?: Partial<ConnectBusOptions>): Promise<Bus>;
};

export const TEST_ROLES: readonly string[] = BUILT_IN_ROLES;
export const PASSWORD = 'p"ss\\w$rd{1}';

export const TEST_PRINCIPALS: readonly Principal[] = [
  { kind: 'admin' },
  { kind: 'scheduler' },
  { kind: 'knowledge-maintainer' },
  { kind: 'gateway' },
  { kind: 'tenant', tenantId: 'acme' },
  { kind: 'tenant', tenantId: 'globex' },
  ...TEST_ROLES.map((role): Principal => ({ kind: 'worker', role })),
];

export async function startTestBroker<S extends LaunchedServer>(
  launch: Launcher<S>,
  options: { readonly topology?: boolean; readonly config?: string } = {},
): Promise<TestBroker<S>> {
  const dir = await mkdtemp(join(tmpdir(), 'cs-bus-'));
  const users = TEST_PRINCIPALS.map((principal) => ({ principal, password: PASSWORD }));
  const config = options.config ?? toNatsServerConfig({ principals: users, roles: TEST_ROLES });
  const server = await launch({ dir, config });
  const buses: Bus[] = [];
  const connect = async (principal: Principal, more: Partial<ConnectBusOptions> = {}) => {
    const bus = await connectBus({ servers: server.url, principal, password: PASSWORD, ...more });
    buses.push(bus);
    return bus;
  };
  const admin = await connect({ kind: 'admin' });
  if (options.topology !== false) await applyTopology(admin, { roles: TEST_ROLES });
  return {
    server,
    admin,
    connect,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(buses.map((bus) => bus.close(200)));
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
