import type { NatsServer, PostgresServer, ServerControl, Service } from '@cleanslate/infra';
import type { CliConfig } from '../config.ts';
import { type Credentials, ensureCredentials } from './credentials.ts';
import { type Home, makeHome } from './home.ts';
import { type HomeLock, requireHome } from './home-lock.ts';
import { openStackLog, type StackLog } from './log-file.ts';
import { findPort } from './port.ts';
import { toIdentity } from './process-identity.ts';
import { type Broker, type LedgerDatabase, type Login, openBroker, openLedgerDatabase } from './servers.ts';
import { SERVICES, startServiceOf } from './service-table.ts';
import { BROKER, DATABASE, type ProcessRef, removeStack, type StackFile, writeStack } from './stack-file.ts';
import { Supervised } from './supervised.ts';

export type StackOptions = {
  readonly home: Home;
  readonly config: CliConfig;
  readonly tenants: readonly string[];
  /** Of the home; default: taken here. Released once the stack has ended. */
  readonly lock?: HomeLock;
  /** Preferred ports; default: any free ones. */
  readonly ports?: { readonly nats: number; readonly gateway: number };
  readonly logLevel?: string;
  /** For the retriever (`toSourcesEnvironment`). Default: no sources besides the knowledge base. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Broker and database only, for work while no service runs. */
  readonly isServersOnly?: boolean;
  /** One line about each part that runs, and each that ended. */
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal;
};

export type Stack = {
  readonly credentials: Credentials;
  /** What a principal logs in to the broker with. */
  loginOf(user: string): Login;
  /** As in `stack.json`. */
  describe(): StackFile;
  /** Services first, then database and broker; each gets its grace period, then SIGKILL. */
  stop(): Promise<void>;
};

/**
 * Starts everything, in parallel where possible, and waits until every service is ready. On failure nothing is left
 * running.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const lock = options.lock ?? (await requireHome(options.home));
  try {
    return await startLocked(options, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function startLocked(options: StackOptions, lock: HomeLock): Promise<Stack> {
  const { home } = options;
  await makeHome(home);
  const credentials = await ensureCredentials(home, options.tenants);
  const log = await openStackLog(home.log);
  const parts: Parts = { state: 'starting', servers: [], services: [], gatewayPort: 0 };
  const startedAt = new Date().toISOString();
  const describe = () => describeStack(options, parts, startedAt);
  // One after the other; a late change must not write the file of a stack that is gone.
  let saved = Promise.resolve();
  const save = () => {
    saved = saved
      .then(() => writeStack(home, describe()))
      .catch((error) => options.say(`stack.json: ${String(error)}`));
    return saved;
  };
  const stop = async () => {
    parts.state = 'stopping';
    await save();
    await Promise.all(parts.services.map((service) => service.stop()));
    await Promise.all(parts.servers.map((server) => server.stop()));
    await removeStack(home, toRef('slate up', process.pid));
    await log.close();
    await lock.release();
  };
  const onChange = () => void (parts.state === 'stopping' || save());
  try {
    // From now on a second `slate up` sees that this one is starting.
    await save();
    await startParts(options, credentials, log, parts, onChange);
    parts.state = 'ready';
    await save();
    const loginOf = (user: string) => parts.broker?.loginOf(user) ?? { user, password: '' };
    return { credentials, loginOf, describe, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Parts = {
  state: StackFile['state'];
  broker?: Broker;
  database?: LedgerDatabase;
  /** Those of ours. */
  servers: Supervised<ServerControl>[];
  services: Supervised<Service>[];
  gatewayPort: number;
};

async function startParts(
  options: StackOptions,
  credentials: Credentials,
  log: StackLog,
  parts: Parts,
  onChange: () => void,
): Promise<void> {
  const begun = performance.now();
  const since = () => `${((performance.now() - begun) / 1_000).toFixed(1)} s`;
  const writeLog = log.of('slate up');
  // The log shows what ended and came back while nobody watched the terminal.
  const say = (line: string) => {
    options.say(line);
    writeLog(line);
  };
  await startServers(options, credentials, log, parts, { say, onChange, since });
  const { broker, database } = parts;
  if (broker === undefined || database === undefined || options.isServersOnly) return;
  options.signal?.throwIfAborted();
  parts.gatewayPort = await findPort(options.ports?.gateway);
  const world = {
    natsUrl: broker.url,
    natsLogin: broker.loginOf,
    databaseUrl: database.urlOf,
    logLevel: options.logLevel ?? 'info',
    compileCache: options.home.compileCache,
    embedding: options.config.embedding,
    sources: options.sources ?? {},
    model: options.config.model,
  };
  parts.services = SERVICES.map((spec) => {
    const write = log.of(spec.name);
    const start = (signal: AbortSignal) =>
      withFreePort(parts, (httpPort) => startServiceOf(spec, { ...world, httpPort }, write, signal));
    return new Supervised({ name: spec.name, start, say, onChange });
  });
  await startAll(parts.services, options.signal, (name) => say(`${name} ready (${since()})`));
}

/**
 * Between the search for a free port and the gateway's start, another program may take it. Once clients know it, it
 * stays.
 */
async function withFreePort<T>(parts: Parts, start: (httpPort: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start(parts.gatewayPort);
    } catch (error) {
      if (parts.state !== 'starting' || tries === 3 || !String(error).includes('EADDRINUSE')) throw error;
      parts.gatewayPort = await findPort(undefined);
    }
  }
}

type Watching = {
  readonly say: (line: string) => void;
  readonly onChange: () => void;
  readonly since: () => string;
};

/** Broker and database, at the same time. Both settle before anything is thrown: whatever did start must be stopped. */
async function startServers(
  { home, config, ports, signal }: StackOptions,
  credentials: Credentials,
  log: StackLog,
  parts: Parts,
  watching: Watching,
): Promise<void> {
  const { say, since } = watching;
  const given =
    config.natsUrl === undefined
      ? undefined
      : { url: config.natsUrl, user: config.natsUser, password: config.natsPassword };
  const [broker, database] = await Promise.allSettled([
    openBroker({ home, credentials, log, given, port: ports?.nats }).then((open) => {
      parts.broker = open;
      if (open.server) parts.servers.push(keep(BROKER, open.server, watching));
      say(`broker ready, streams in place (${since()}): ${open.url}`);
    }),
    openLedgerDatabase({ home, credentials, log, givenUrl: config.databaseUrl, signal }).then((open) => {
      parts.database = open;
      if (open.server) parts.servers.push(keep(DATABASE, open.server, watching));
      say(`database ready, migrated (${since()}): ${open.server ? 'embedded PostgreSQL' : 'DATABASE_URL'}`);
    }),
  ]);
  if (broker.status === 'rejected') throw broker.reason;
  if (database.status === 'rejected') throw database.reason;
}

/** It comes back on its port and with its data, so that services only have to reconnect. */
function keep(name: string, server: NatsServer | PostgresServer, { say, onChange }: Watching) {
  const start = async (): Promise<ServerControl> => {
    await server.restart();
    return server;
  };
  const supervised = new Supervised<ServerControl>({ name, start, say, onChange });
  supervised.watch(server);
  return supervised;
}

async function startAll(
  services: readonly Supervised<Service>[],
  signal: AbortSignal | undefined,
  onReady: (name: string) => void,
): Promise<void> {
  const outcomes = await Promise.allSettled(
    services.map(async (service) => {
      await service.start(signal);
      onReady(service.name);
    }),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

function describeStack(options: StackOptions, parts: Parts, startedAt: string): StackFile {
  const running = [...parts.servers, ...parts.services];
  return {
    state: parts.state,
    startedAt,
    supervisor: toRef('slate up', process.pid),
    processes: running.flatMap(({ name, part }) => (part ? [toRef(name, part.pid)] : [])),
    natsUrl: parts.broker?.url ?? '',
    ...(parts.broker?.server ? { natsMonitorUrl: parts.broker.server.monitorUrl } : {}),
    databaseUrl: parts.database?.adminUrl ?? '',
    database: parts.database?.server ? 'embedded' : 'given',
    gatewayUrl: `http://127.0.0.1:${parts.gatewayPort}`,
    health: Object.fromEntries(
      parts.services.flatMap(({ name, part }) => (part?.healthUrl === undefined ? [] : [[name, part.healthUrl]])),
    ),
    logFile: options.home.log,
  };
}

function toRef(name: string, pid: number): ProcessRef {
  return { name, ...toIdentity(pid) };
}
