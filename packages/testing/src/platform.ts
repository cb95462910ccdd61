import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect } from '@cleanslate/client';
import { type Principal, principalName } from '@cleanslate/contracts';
import { checkoutRoot, type Service, startService } from '@cleanslate/infra';
import { type DatabaseRole, putApiKey } from '@cleanslate/store';
import { startTestBroker, type TestBroker } from './broker.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

type ServiceSpec = { readonly principal: Principal; readonly databaseRole?: DatabaseRole };
const SPECS = {
  scheduler: { principal: { kind: 'scheduler' }, databaseRole: 'cleanslate_scheduler' },
  'knowledge-maintainer': { principal: { kind: 'knowledge-maintainer' }, databaseRole: 'cleanslate_maintainer' },
  gateway: { principal: { kind: 'gateway' }, databaseRole: 'cleanslate_gateway' },
  planner: { principal: { kind: 'worker', role: 'planner' } },
  retriever: { principal: { kind: 'worker', role: 'retriever' }, databaseRole: 'cleanslate_retriever' },
  analyzer: { principal: { kind: 'worker', role: 'analyzer' } },
  generator: { principal: { kind: 'worker', role: 'generator' } },
  validator: { principal: { kind: 'worker', role: 'validator' }, databaseRole: 'cleanslate_validator' },
} as const satisfies Record<string, ServiceSpec>;
export type ServiceName = keyof typeof SPECS;
export const SERVICE_NAMES = Object.keys(SPECS) as readonly ServiceName[];

/** Ten services at once, beside another test file with as many, on two cores that others use, too. */
const READY_MS = 200_000;

export type PlatformOptions = {
  readonly postgresAdminUrl: string;
  /** Services to start; default all. A name may stand twice for two replicas. */
  readonly services?: readonly ServiceName[];
  /** Environment for every service: short leases and the like. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Services and clients reach broker and database through `links`, which a test can cut; the test's own
   * SQL and administrator do not.
   */
  readonly cuttable?: boolean;
  /** Every line of every service, with its name: `SHOW=1` in a failing test. */
  readonly log?: (name: string, line: string) => void;
};

export type Links = { readonly broker: TcpProxy; readonly database: TcpProxy };

/** The whole platform on real parts: its own broker, its own database, each service a process. */
export type Platform = AsyncDisposable & {
  readonly broker: TestBroker;
  readonly database: TestDatabase;
  readonly services: readonly Service[];
  /** Where `cuttable` was asked for. */
  readonly links: Links | undefined;
  start(
    name: ServiceName,
    env?: Readonly<Record<string, string>>,
    entry?: string,
    readyTimeoutMs?: number,
  ): Promise<Service>;
  /** The first running process of that name. */
  service(name: ServiceName): Service;
  client(tenant?: string): Promise<Client>;
};

export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const dir = await mkdtemp(join(tmpdir(), 'cleanslate-platform-'));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  try {
    const [broker, database] = await Promise.all([startTestBroker(dir), createTestDatabase(options.postgresAdminUrl)]);
    stack.use(broker);
    stack.use(database);
    const links = options.cuttable ? await startLinks(broker, database, stack) : undefined;
    for (const tenant of ['acme', 'globex']) await putApiKey(database.adminUrl, tenant, testApiKey(tenant));
    const platform = new RunningPlatform(broker, database, links, options, stack);
    stack.defer(() => platform.stopAll());
    const started = await Promise.allSettled((options.services ?? SERVICE_NAMES).map((name) => platform.start(name)));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return platform;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function startLinks(broker: TestBroker, database: TestDatabase, stack: AsyncDisposableStack): Promise<Links> {
  return {
    broker: stack.use(await startTcpProxy(portOf(broker.url))),
    database: stack.use(await startTcpProxy(portOf(database.adminUrl))),
  };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function through(link: TcpProxy | undefined, url: string): string {
  if (link === undefined) return url;
  const linked = new URL(url);
  linked.host = `127.0.0.1:${link.port}`;
  return linked.href;
}

/** The API key that the gateway of a test platform takes for a tenant. */
export function testApiKey(tenant: string): string {
  return `csk_test_${tenant}`;
}

class RunningPlatform implements Platform {
  readonly broker: TestBroker;
  readonly database: TestDatabase;
  readonly services: Service[] = [];
  readonly links: Links | undefined;
  readonly #options: PlatformOptions;
  readonly #stack: AsyncDisposableStack;
  readonly #clients: Client[] = [];

  constructor(
    broker: TestBroker,
    database: TestDatabase,
    links: Links | undefined,
    options: PlatformOptions,
    stack: AsyncDisposableStack,
  ) {
    this.broker = broker;
    this.database = database;
    this.links = links;
    this.#options = options;
    this.#stack = stack;
  }

  async start(
    name: ServiceName,
    env: Readonly<Record<string, string>> = {},
    entry = join(checkoutRoot, 'services', name, 'src', 'main.ts'),
    readyTimeoutMs = READY_MS,
  ): Promise<Service> {
    const spec: ServiceSpec = SPECS[name];
    const { log } = this.#options;
    const database = spec.databaseRole && through(this.links?.database, this.database.urlOf(spec.databaseRole));
    const service = await startService({
      name,
      entry,
      readyTimeoutMs,
      env: {
        NATS_URL: through(this.links?.broker, this.broker.url),
        NATS_USER: principalName(spec.principal),
        NATS_PASSWORD: this.broker.password,
        GRACE_MS: '3000',
        ...(database === undefined ? {} : { DATABASE_URL: database }),
        ...(name === 'gateway' ? { HTTP_PORT: '0' } : {}),
        ...this.#options.env,
        ...env,
      },
      ...(log === undefined ? {} : { log: (line: string) => log(name, line) }),
    });
    this.services.push(service);
    return service;
  }

  service(name: ServiceName): Service {
    const found = this.services.find((service) => service.name === name && service.exit === undefined);
    if (found === undefined) throw new Error(`no running ${name}`);
    return found;
  }

  async client(tenant = 'acme'): Promise<Client> {
    const servers = through(this.links?.broker, this.broker.url);
    const client = await connect({ servers, tenant, password: this.broker.password, name: 'test' });
    this.#clients.push(client);
    return client;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close().catch(() => undefined)));
    await Promise.all(
      this.services.filter((service) => service.exit === undefined).map((service) => service.kill('SIGKILL')),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
