import { applyTopology, type Bus, connectBus, toNatsServerConfig } from '@cleanslate/bus';
import { BUILT_IN_ROLES, type Principal, principalName } from '@cleanslate/contracts';
import { type NatsServer, startNatsServer } from '@cleanslate/infra';

/** A real nats-server with a user per principal and the topology applied. */
export type TestBroker = AsyncDisposable & {
  readonly server: NatsServer;
  readonly url: string;
  readonly password: string;
  /** Connects as any principal. */
  connect(principal: Principal): Promise<Bus>;
};

const PASSWORD = 'cleanslate-test';

export async function startTestBroker(
  dir: string,
  options: { readonly tenants?: readonly string[]; readonly roles?: readonly string[] } = {},
): Promise<TestBroker> {
  const { tenants = ['acme', 'globex'], roles = BUILT_IN_ROLES } = options;
  const principals: Principal[] = [
    { kind: 'scheduler' },
    { kind: 'knowledge-maintainer' },
    { kind: 'gateway' },
    { kind: 'admin' },
    ...roles.map((role): Principal => ({ kind: 'worker', role })),
    ...tenants.map((tenantId): Principal => ({ kind: 'tenant', tenantId })),
  ];
  const config = toNatsServerConfig({
    principals: principals.map((principal) => ({ principal, password: PASSWORD })),
    roles,
  });
  const server = await startNatsServer({ dir, config });
  const connect = (principal: Principal) =>
    connectBus({
      servers: server.url,
      principal,
      user: principalName(principal),
      password: PASSWORD,
      waitOnFirstConnectMs: 60_000,
    });
  const broker = {
    server,
    url: server.url,
    password: PASSWORD,
    connect,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  try {
    const admin = await connect({ kind: 'admin' });
    await applyTopology(admin, { roles });
    await admin.close();
    return broker;
  } catch (error) {
    await server.stop();
    throw error;
  }
}
