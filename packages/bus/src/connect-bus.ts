import { AppError, inboxPrefix, type Principal, principalName } from '@cleanslate/contracts';
import { errors, type NatsConnection, type Status } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { backoffMs } from './backoff.ts';
import { Bus, type BusStatus } from './bus.ts';

export type ConnectBusOptions = {
  /** One URL or several, also comma-separated. */
  readonly servers: string | readonly string[];
  readonly principal: Principal;
  /** Default: the principal's name. */
  readonly user?: string;
  readonly password?: string;
  /** Shown in the server's connection list. Default: the principal's name. */
  readonly name?: string;
  /**
   * How long to wait for a first connection before `BROKER_UNAVAILABLE`. Milliseconds,
   * default 30 s; `Infinity`: for ever.
   */
  readonly waitOnFirstConnectMs?: number;
  /** Called at each try with the reason why there is no first connection yet. */
  readonly onWait?: (problem: string) => void;
  readonly signal?: AbortSignal;
  readonly onStatus?: (status: BusStatus) => void;
};

const RECONNECT = { firstMs: 100, maxMs: 2_000 };
/** A stopped server accepts connections and says nothing: give up on it soon, another try costs little. */
const DIAL_TIMEOUT_MS = 5_000;
/**
 * How many times in a row the credentials may be refused before the process is told to end (a
 * rotated password needs a restart).
 */
const MAX_AUTH_REFUSALS = 10;

/**
 * Connects and keeps connected. Throws `BROKER_UNAVAILABLE` when there is no connection in time, `UNAUTHORIZED` at once
 * when the server refuses the credentials.
 */
export async function connectBus(options: ConnectBusOptions): Promise<Bus> {
  const counters = { attempts: 0 };
  const nc = await firstConnection(options, counters);
  const bus = new Bus(nc, options.principal);
  if (options.onStatus) bus.onStatus(options.onStatus);
  void watch(bus, nc, counters);
  return bus;
}

async function firstConnection(options: ConnectBusOptions, counters: { attempts: number }): Promise<NatsConnection> {
  const waitMs = options.waitOnFirstConnectMs ?? 30_000;
  const giveUpAt = performance.now() + waitMs;
  for (let tries = 1; ; tries++) {
    try {
      return await dial(options, counters);
    } catch (error) {
      if (isAuthRefusal(error)) throw refused(options, error);
      const pauseMs = backoffMs(tries, RECONNECT);
      if (options.signal?.aborted || performance.now() + pauseMs > giveUpAt) throw unreachable(options, waitMs, error);
      options.onWait?.(`the broker can't be reached yet: ${error instanceof Error ? error.message : String(error)}`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

function dial(options: ConnectBusOptions, counters: { attempts: number }): Promise<NatsConnection> {
  const name = principalName(options.principal);
  return connect({
    servers: serverList(options.servers),
    user: options.user ?? name,
    ...(options.password === undefined ? {} : { pass: options.password }),
    name: options.name ?? name,
    inboxPrefix: inboxPrefix(options.principal),
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => backoffMs(Math.max(1, counters.attempts), RECONNECT),
    timeout: DIAL_TIMEOUT_MS,
    pingInterval: 10_000,
    maxPingOut: 3,
    ignoreAuthErrorAbort: true,
    // Traces cost 20 µs a request and show only this package.
    noAsyncTraces: true,
  });
}

/** Ends with the connection; translates every status of the client library. */
async function watch(bus: Bus, nc: NatsConnection, counters: { attempts: number }): Promise<void> {
  let refusals = 0;
  for await (const status of nc.status()) {
    if (status.type === 'reconnecting') counters.attempts++;
    if (status.type === 'reconnect') refusals = counters.attempts = 0;
    if (status.type === 'error' && isAuthRefusal(status.error) && ++refusals >= MAX_AUTH_REFUSALS) {
      bus.notify({
        type: 'error',
        message: `credentials refused ${refusals} times, giving up: ${status.error.message}`,
      });
      await nc.close();
    }
    const ours = toBusStatus(status, nc);
    if (ours) bus.notify(ours);
  }
}

function toBusStatus(status: Status, nc: NatsConnection): BusStatus | undefined {
  const server = 'server' in status ? String(status.server) : nc.getServer();
  if (status.type === 'disconnect') return { type: 'disconnected', server };
  if (status.type === 'reconnect') return { type: 'reconnected', server };
  if (status.type === 'reconnecting') return { type: 'reconnecting', server };
  if (status.type === 'staleConnection') return { type: 'stale', server };
  if (status.type === 'ldm') return { type: 'draining-server', server };
  if (status.type !== 'error') return undefined;
  const { error } = status;
  if (error instanceof errors.PermissionViolationError) {
    return { type: 'permission-violation', operation: error.operation, subject: error.subject };
  }
  return { type: 'error', message: error.message };
}

function serverList(servers: string | readonly string[]): string[] {
  const list = typeof servers === 'string' ? servers.split(',') : [...servers];
  return list.map((server) => server.trim()).filter((server) => server !== '');
}

function isAuthRefusal(error: unknown): boolean {
  // A handshake timeout has the same class, but it passes.
  return error instanceof errors.AuthorizationError && !/timeout/i.test(error.message);
}

function refused(options: ConnectBusOptions, cause: unknown): AppError {
  const user = options.user ?? principalName(options.principal);
  return new AppError(
    'UNAUTHORIZED',
    `the broker refuses user "${user}": check NATS_USER and NATS_PASSWORD against the server's users`,
    { cause },
  );
}

function unreachable(options: ConnectBusOptions, waitMs: number, cause: unknown): AppError {
  const servers = serverList(options.servers).map(withoutCredentials).join(', ');
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppError(
    'BROKER_UNAVAILABLE',
    `no connection to ${servers} within ${waitMs} ms (${reason}): check NATS_URL`,
    {
      cause,
    },
  );
}

function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//');
}
