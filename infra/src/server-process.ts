import type { Child, Exit } from './child.ts';
import { LaunchError } from './launch-error.ts';
import { settlesWithin, waitUntil } from './wait-until.ts';

/** What every launched server can do; the chaos tests live on this. */
export interface ServerControl extends AsyncDisposable {
  /** The process id now; another one after `restart`. */
  readonly pid: number;
  /** The end of the process that runs now, however it comes. */
  readonly exited: Promise<Exit>;
  /** Ends the server in good order. */
  stop(): Promise<void>;
  /** SIGKILL to the server and all its processes, at once. */
  kill(): Promise<void>;
  /** Starts it again on the same port and the same data, after `stop`, `kill` or a crash, or stops it first. */
  restart(): Promise<void>;
  /** Freezes it (SIGSTOP): connections stay open and nothing answers. */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  /** The last lines it printed. */
  lastLines(count?: number): string[];
}

export interface ServerPlan {
  readonly start: () => Promise<Child> | Child;
  /** Throws or returns false while the server does not answer. */
  readonly isReady: () => Promise<boolean>;
  readonly name: string;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A child process with a readiness check, and the control over it. */
export class ServerProcess implements ServerControl {
  readonly #plan: ServerPlan;
  #child: Child;

  private constructor(plan: ServerPlan, child: Child) {
    this.#plan = plan;
    this.#child = child;
  }

  /** Starts the server and waits until it answers; on failure nothing is left running and the error shows its log. */
  static async start(plan: ServerPlan): Promise<ServerProcess> {
    return new ServerProcess(plan, await startReady(plan));
  }

  get pid(): number {
    return this.#child.pid;
  }

  get exited(): Promise<Exit> {
    return this.#child.exited;
  }

  get child(): Child {
    return this.#child;
  }

  async stop(): Promise<void> {
    await this.#child.stop(this.#plan.graceMs);
  }

  async kill(): Promise<void> {
    await this.#child.kill();
  }

  async restart(): Promise<void> {
    await this.stop();
    this.#child = await startReady(this.#plan);
  }

  async suspend(): Promise<void> {
    this.#child.suspend();
  }

  async resume(): Promise<void> {
    this.#child.resume();
  }

  lastLines(count?: number): string[] {
    return this.#child.lines.last(count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function startReady(plan: ServerPlan): Promise<Child> {
  const child = await plan.start();
  try {
    await waitUntil(
      async () => {
        if (child.exit !== undefined) return 'ended';
        return (await plan.isReady()) && 'ready';
      },
      {
        timeoutMs: plan.timeoutMs,
        signal: plan.signal,
        onTimeout: (cause) =>
          new LaunchError(
            'START_TIMEOUT',
            `${plan.name} did not answer within ${plan.timeoutMs} ms.`,
            child.lines.last(),
            cause,
          ),
      },
    );
    // A server that took our port and answered is not ours if our child is gone.
    if (child.exit !== undefined || (await settlesWithin(child.exited, 0))) {
      const how = child.exit?.signal ?? `exit code ${child.exit?.code}`;
      throw new LaunchError('START_FAILED', `${plan.name} ended while starting (${how}).`, child.lines.last());
    }
    return child;
  } catch (error) {
    await child.kill();
    throw error;
  }
}

/** Starts on a chosen free port, and on another if that was taken in between; a port given by the caller is kept. */
export async function startOnFreePort<Server>(
  port: number | undefined,
  findPort: () => Promise<number>,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  if (port !== undefined) return start(port);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await findPort());
    } catch (error) {
      const taken =
        error instanceof LaunchError && error.lastLines.some((line) => /address already in use|EADDRINUSE/i.test(line));
      if (!taken || attempt === 3) throw error;
    }
  }
}
