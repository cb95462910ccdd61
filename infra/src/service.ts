import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Child, type Exit } from './child.ts';
import { LaunchError } from './launch-error.ts';
import { checkoutRoot, findPinnedNode, inheritedEnvironment } from './toolchain.ts';
import { waitUntil } from './wait-until.ts';

export interface ServiceOptions {
  readonly name: string;
  /** Absolute path of a TypeScript or JavaScript file. */
  readonly entry: string;
  readonly args?: readonly string[];
  /** The service's whole configuration; of ours it inherits PATH, HOME and the like only. HEALTH_PORT=0 is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with every line of stdout and stderr. */
  readonly log?: (line: string) => void;
  /** False: return as soon as the process runs. Default true: wait for `/readyz`. */
  readonly waitReady?: boolean;
  /** Default 90,000: many services at once start slowly on a small machine. */
  readonly readyTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface Service extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** `http://127.0.0.1:<port>`, once the service has reported its health port. */
  readonly healthUrl: string | undefined;
  readonly exited: Promise<Exit>;
  /** Undefined while it runs. */
  readonly exit: Exit | undefined;
  /** Waits until `/readyz` answers 200. Throws `LaunchError` with the last lines if it ends or takes too long. */
  waitReady(timeoutMs?: number): Promise<void>;
  /** Sends a signal to the process; SIGKILL goes to its descendants too. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  suspend(): void;
  resume(): void;
  /** SIGTERM, and SIGKILL after `graceMs` (default 10,000). */
  stop(graceMs?: number): Promise<Exit>;
  /** Returns the function that ends the listening. */
  onLine(listener: (line: string) => void): () => void;
  lastLines(count?: number): string[];
}

/**
 * Room for young objects, twice this many megabytes: the same wherever a service runs (a test compares Compose and
 * Kubernetes). Twice as much saves a tenth of a service's CPU and costs 8 to 12 MB.
 */
export const SEMI_SPACE_MB = 8;

/**
 * A service holds little for long: without these V8 and the allocator keep what a burst needed (seen: 330 MB where 140
 * do). Heap limits are far above what a service uses. Compiled once, a service starts in half the time and holds 20 MB
 * less. To be overridden by `env`.
 */
const SETTINGS = {
  MALLOC_ARENA_MAX: '2',
  NODE_OPTIONS: `--max-semi-space-size=${SEMI_SPACE_MB} --max-old-space-size=512`,
  NODE_COMPILE_CACHE: join(checkoutRoot, '.cleanslate', 'compile-cache'),
};

/**
 * Starts one service under the pinned Node. The service prints a JSON line `{"event":"listening","healthPort":N}`
 * once its health server listens. It ends when this process does; see `spawnDetached` for what shall outlive it.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const child = await Child.start({
    name: options.name,
    program: findPinnedNode(),
    args: [options.entry, ...(options.args ?? [])],
    env: { ...inheritedEnvironment(), ...SETTINGS, HEALTH_PORT: '0', ...options.env },
  });
  const service = new ServiceProcess(child);
  if (options.log) child.lines.onLine(options.log);
  if (options.waitReady === false) return service;
  try {
    await service.waitReady(options.readyTimeoutMs, options.signal);
    return service;
  } catch (error) {
    await child.kill();
    throw error;
  }
}

class ServiceProcess implements Service {
  readonly #child: Child;
  healthUrl: string | undefined;

  constructor(child: Child) {
    this.#child = child;
    const stop = child.lines.onLine((line) => {
      const port = parseHealthPort(line);
      if (port === undefined) return;
      this.healthUrl = `http://127.0.0.1:${port}`;
      stop();
    });
  }

  get name(): string {
    return this.#child.name;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get exited(): Promise<Exit> {
    return this.#child.exited;
  }

  get exit(): Exit | undefined {
    return this.#child.exit;
  }

  async waitReady(timeoutMs = 90_000, signal?: AbortSignal): Promise<void> {
    let lastAnswer = this.healthUrl;
    const check = async (): Promise<boolean> => {
      if (this.exit !== undefined) return true;
      if (this.healthUrl === undefined) return false;
      const response = await fetch(`${this.healthUrl}/readyz`, { signal: AbortSignal.timeout(2_000) });
      lastAnswer = `${response.status} ${await response.text()}`;
      return response.ok;
    };
    const onTimeout = (cause: unknown): Error => {
      const state =
        this.healthUrl === undefined ? 'reported no health port' : `answers /readyz with ${lastAnswer ?? 'nothing'}`;
      return new LaunchError(
        'START_TIMEOUT',
        `${this.name} was not ready within ${timeoutMs} ms: it ${state}.`,
        this.lastLines(),
        cause,
      );
    };
    await waitUntil(check, { timeoutMs, signal, onTimeout });
    if (this.exit === undefined) return;
    const how = this.exit.signal ?? `exit code ${this.exit.code}`;
    throw new LaunchError('START_FAILED', `${this.name} ended before it was ready (${how}).`, this.lastLines());
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (signal === 'SIGKILL') await this.#child.kill();
    else this.#child.signal(signal);
  }

  suspend(): void {
    this.#child.suspend();
  }

  resume(): void {
    this.#child.resume();
  }

  stop(graceMs = 10_000): Promise<Exit> {
    return this.#child.stop(graceMs);
  }

  onLine(listener: (line: string) => void): () => void {
    return this.#child.lines.onLine(listener);
  }

  lastLines(count?: number): string[] {
    return this.#child.lines.last(count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts a program that outlives this process (`slate up --detach` starts `slate up` so); returns its pid. */
export function spawnDetached(options: {
  entry: string;
  args?: readonly string[];
  env: Readonly<Record<string, string>>;
  logFile: string;
  /** Its end, as long as this process is there to see it. `null`: by a signal. */
  onExit?: (code: number | null) => void;
}): number {
  const log = openSync(options.logFile, 'a', 0o600);
  const started = spawn(findPinnedNode(), [options.entry, ...(options.args ?? [])], {
    env: { ...options.env },
    stdio: ['ignore', log, log],
    detached: true,
  });
  if (options.onExit) started.once('exit', options.onExit);
  started.unref();
  closeSync(log);
  if (started.pid === undefined) throw new LaunchError('START_FAILED', `${options.entry} could not be started.`);
  return started.pid;
}

function parseHealthPort(line: string): number | undefined {
  if (!line.startsWith('{') || !line.includes('"listening"')) return undefined;
  try {
    const { event, healthPort } = JSON.parse(line) as { event?: unknown; healthPort?: unknown };
    return event === 'listening' && typeof healthPort === 'number' ? healthPort : undefined;
  } catch {
    return undefined;
  }
}
