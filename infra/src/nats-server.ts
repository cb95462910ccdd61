import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Child } from './child.ts';
import { dockerContainer } from './docker-container.ts';
import { findFreePort } from './free-port.ts';
import { LaunchError } from './launch-error.ts';
import { configPath, renderNatsConfig } from './nats-config.ts';
import { type ServerControl, ServerProcess, startOnFreePort } from './server-process.ts';
import { inheritedEnvironment, type NatsChoice, readToolchain } from './toolchain.ts';
import { waitUntil } from './wait-until.ts';

export interface NatsServerOptions {
  /** Holds the configuration and the JetStream store; kept after `stop`, so that a later start finds the streams. */
  readonly dir: string;
  /** Further nats-server configuration, such as the authorization block. Default: none. */
  readonly config?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Ends the wait for the start. */
  readonly signal?: AbortSignal;
  /** Called with every line the server prints. */
  readonly log?: (line: string) => void;
  /** Default: what the set-up chose. */
  readonly choice?: NatsChoice;
}

export interface NatsServer extends ServerControl {
  /** `nats://127.0.0.1:<port>`, without credentials. */
  readonly url: string;
  readonly port: number;
  /** The HTTP monitoring endpoint (`/healthz`, `/jsz`, …). */
  readonly monitorUrl: string;
  /** SIGHUP, with a new extra configuration if given. Throws `RELOAD_FAILED` with the server's reason if it refuses. */
  reload(config?: string): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;

/**
 * Starts a JetStream server on loopback and waits until it answers. Throws `LaunchError` with the server's last lines.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const choice = options.choice ?? requireChoice();
  await mkdir(join(options.dir, 'jetstream'), { recursive: true });
  return startOnFreePort(options.port, findFreePort, (port) => startOnPort(options, choice, port));
}

async function startOnPort(options: NatsServerOptions, choice: NatsChoice, port: number): Promise<NatsServer> {
  const monitorPort = await findFreePort();
  const paths = choice.kind === 'docker' ? containerPaths : hostPaths(options.dir);
  const writeConfig = (extra: string): Promise<void> =>
    writeFile(
      configPath(options.dir),
      renderNatsConfig({ host: paths.host, port, monitorPort, storeDir: paths.store, extra }),
      {
        // The extra part may hold passwords.
        mode: 0o600,
      },
    );
  await writeConfig(options.config ?? '');
  const monitorUrl = `http://127.0.0.1:${monitorPort}`;
  const server = await ServerProcess.start({
    name: `nats-server on port ${port}`,
    timeoutMs: START_TIMEOUT_MS,
    graceMs: 15_000,
    signal: options.signal,
    start: () => startChild(options, choice, paths.config, [port, monitorPort]),
    isReady: async () => (await sendsInfo(port)) && (await fetch(`${monitorUrl}/healthz`)).ok,
  });
  return Object.assign(server, {
    url: `nats://127.0.0.1:${port}`,
    port,
    monitorUrl,
    reload: async (config?: string) => {
      if (config !== undefined) await writeConfig(config);
      await reload(server.child);
    },
  });
}

async function startChild(
  options: NatsServerOptions,
  choice: NatsChoice,
  config: string,
  ports: number[],
): Promise<Child> {
  const common = {
    name: 'nats-server',
    env: inheritedEnvironment(),
    log: options.log,
    logFile: join(options.dir, 'nats-server.log'),
  };
  if (choice.kind === 'docker') {
    const mounts = [[options.dir, containerPaths.dir] as const];
    return Child.start({
      ...common,
      ...dockerContainer({
        image: choice.image,
        ports: ports.map((port) => [port, port] as const),
        mounts,
        command: ['-c', config],
      }),
    });
  }
  if (choice.kind === 'binary') return Child.start({ ...common, program: choice.path, args: ['-c', config] });
  throw new LaunchError(
    'NOT_OURS',
    'NATS_URL names a server that runs already, so it can not be started here. Unset NATS_URL and run `npm run setup`.',
  );
}

const containerPaths = {
  host: '0.0.0.0',
  dir: '/cleanslate',
  store: '/cleanslate/jetstream',
  config: '/cleanslate/nats-server.conf',
};

function hostPaths(dir: string): { host: string; store: string; config: string } {
  return { host: '127.0.0.1', store: join(dir, 'jetstream'), config: configPath(dir) };
}

function requireChoice(): NatsChoice {
  const { nats } = readToolchain();
  if (nats === undefined) throw new LaunchError('TOOLCHAIN_MISSING', 'No NATS server was chosen. Run `npm run setup`.');
  return nats;
}

async function reload(child: Child): Promise<void> {
  let answer: string | undefined;
  const stopListening = child.lines.onLine((line) => {
    if (/Reloaded server configuration|Failed to reload/i.test(line)) answer = line;
  });
  try {
    child.signal('SIGHUP');
    await waitUntil(() => answer !== undefined, {
      timeoutMs: 30_000,
      onTimeout: () => new LaunchError('RELOAD_FAILED', 'nats-server did not react to SIGHUP.', child.lines.last()),
    });
  } finally {
    stopListening();
  }
  if (answer?.includes('Failed'))
    throw new LaunchError('RELOAD_FAILED', `nats-server kept its old configuration: ${answer}`);
}

/** A NATS server speaks first: `INFO {…}`. Something else that listens on the port does not. */
function sendsInfo(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const finish = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(1_000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('data', (data) => finish(data.toString('latin1').startsWith('INFO ')));
  });
}
