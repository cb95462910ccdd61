import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { LaunchError } from './launch-error.ts';
import { LineLog } from './line-log.ts';
import { forgetOrphan, watchOrphan } from './orphan-guard.ts';
import { findDescendants, isRunning, signalQuietly } from './process-tree.ts';
import { settlesWithin, waitUntil } from './wait-until.ts';

export interface ChildOptions {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** What asks this program to end in good order. Default SIGTERM. */
  readonly stopSignal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | undefined;
  /** Called with every line of stdout and stderr. */
  readonly log?: ((line: string) => void) | undefined;
  /** Every line is appended here as well. */
  readonly logFile?: string | undefined;
  /** Commands that stand in for signals where the process is only the client of the real one (a container). */
  readonly remote?:
    | { readonly kill: RemoteCommand; readonly suspend: RemoteCommand; readonly resume: RemoteCommand }
    | undefined;
}

const LAST_OUTPUT_MS = 100;

type RemoteCommand = readonly [program: string, ...args: string[]];

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One process that we started: its output, its end, and signals to it and to all that it started. */
export class Child implements AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  readonly lines = new LineLog();
  readonly #process: ChildProcess;
  readonly #stopSignal: 'SIGTERM' | 'SIGINT' | 'SIGQUIT';
  readonly #remote: ChildOptions['remote'];
  #suspended: number[] = [];
  #exit: Exit | undefined;

  private constructor(options: ChildOptions, started: ChildProcess, pid: number) {
    this.name = options.name;
    this.pid = pid;
    this.#process = started;
    this.#stopSignal = options.stopSignal ?? 'SIGTERM';
    this.#remote = options.remote;
    watchOrphan(pid, this.#stopSignal.slice(3) as 'TERM' | 'INT' | 'QUIT');
    const closed = new Promise((resolve) => started.once('close', resolve));
    this.exited = new Promise((resolve) => {
      started.once('exit', (code, signal) => {
        forgetOrphan(pid);
        const settle = (): void => {
          this.#exit = { code, signal };
          resolve(this.#exit);
        };
        // The last output, which usually holds the reason, may arrive after the exit. A descendant may keep it open.
        settlesWithin(closed, LAST_OUTPUT_MS).then(settle, settle);
      });
    });
    for (const stream of [started.stdout, started.stderr]) {
      if (stream) this.lines.follow(stream);
    }
    if (options.log) this.lines.onLine(options.log);
    const { logFile } = options;
    if (logFile) this.#writeTo(logFile);
  }

  /**
   * One handle to the end: the last lines may be read when whoever stopped the process has removed the folder already.
   */
  #writeTo(logFile: string): void {
    const log = openSync(logFile, 'a');
    const stop = this.lines.onLine((line) => {
      try {
        writeSync(log, `${line}\n`);
      } catch {
        // A full disk takes lines of the log, not whoever keeps this process running.
      }
    });
    this.#process.once('close', () => {
      stop();
      closeSync(log);
    });
  }

  /** Starts the program in a process group of its own, so that a ^C reaches only us. Throws if it can't be executed. */
  static async start(options: ChildOptions): Promise<Child> {
    const started = spawn(options.program, [...options.args], {
      env: { ...options.env },
      cwd: options.cwd,
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const { pid } = started;
    if (pid === undefined) {
      const error = await new Promise<Error>((resolve) => started.once('error', resolve));
      throw new LaunchError(
        'START_FAILED',
        `${options.name}: ${options.program} could not be executed: ${error.message}`,
        [],
        error,
      );
    }
    started.on('error', () => {});
    return new Child(options, started, pid);
  }

  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** Sends a signal to the process itself; nothing happens if it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.#exit === undefined) this.#process.kill(signal);
  }

  /** Asks the process to end; after `graceMs` ends it and all its descendants with SIGKILL. */
  async stop(graceMs: number): Promise<Exit> {
    this.resume();
    this.signal(this.#stopSignal);
    if (await settlesWithin(this.exited, graceMs)) return this.exited;
    return this.kill();
  }

  /**
   * Ends the process and all its descendants at once, as a crash of the machine would, and waits until all are gone.
   */
  async kill(): Promise<Exit> {
    if (this.#exit !== undefined) return this.#exit;
    const descendants = findDescendants(this.pid);
    if (this.#remote) runRemote(this.#remote.kill);
    this.signal('SIGKILL');
    for (const pid of descendants) signalQuietly(pid, 'SIGKILL');
    this.#suspended = [];
    const exit = await this.exited;
    await waitUntil(() => descendants.every((pid) => !isRunning(pid)), {
      timeoutMs: 30_000,
      onTimeout: () => new LaunchError('WRONG_STATE', `${this.name}: a descendant survives SIGKILL`),
    });
    return exit;
  }

  /** Freezes the process and its descendants (SIGSTOP): connections stay open, nothing answers. */
  suspend(): void {
    if (this.#exit !== undefined)
      throw new LaunchError('WRONG_STATE', `${this.name} has ended and can not be suspended`);
    if (this.#remote) {
      runRemote(this.#remote.suspend);
      return;
    }
    const frozen = [this.pid];
    signalQuietly(this.pid, 'SIGSTOP');
    for (const pid of findDescendants(this.pid)) {
      signalQuietly(pid, 'SIGSTOP');
      // A frozen descendant can't notice that its parent died, so the guard has to know it.
      watchOrphan(pid, 'KILL');
      frozen.push(pid);
    }
    this.#suspended = frozen;
  }

  /** Lets a suspended process go on; nothing happens to one that runs. */
  resume(): void {
    if (this.#remote && this.#exit === undefined) runRemote(this.#remote.resume);
    for (const pid of this.#suspended.reverse()) {
      signalQuietly(pid, 'SIGCONT');
      if (pid !== this.pid) forgetOrphan(pid);
    }
    this.#suspended = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(10_000);
  }
}

function runRemote([program, ...args]: RemoteCommand): void {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 20_000 });
  } catch {
    // Not running any more, or not paused: the caller goes by the exit of the client.
  }
}
