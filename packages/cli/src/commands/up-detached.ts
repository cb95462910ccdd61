import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, ErrorBody } from '@cleanslate/contracts';
import { checkoutRoot, spawnDetached } from '@cleanslate/infra';
import { z } from 'zod';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { findOwner, type HomeLock, lockHome } from '../stack/home-lock.ts';
import { isSameProcess, signalProcess, toIdentity } from '../stack/process-identity.ts';
import { findStack } from '../stack/stack-file.ts';
import { findOther, pause, printReady, waitWhole } from './up-other.ts';

export type UpOptions = {
  readonly detach?: boolean;
  readonly tenant: string[];
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
};

const READY_MS = 120_000;
/** As `slate down`. */
const GRACE_MS = 30_000;

/** Starts `slate up` as a process of its own and waits for it; if another one is starting here, waits for that. */
export async function upDetached(context: CommandContext, options: UpOptions): Promise<void> {
  const { home, terminal, signal } = context;
  const giveUpAt = performance.now() + READY_MS;
  for (;;) {
    const other = await findOther(context);
    if (other === 'ready') return await printFile(context, options);
    const lock = other === 'none' ? await lockHome(home) : undefined;
    if (lock && 'release' in lock) return await start(context, options, lock, giveUpAt);
    if (lock) terminal.note(`a stack is starting here (process ${lock.ownerPid}); waiting for it …`);
    while (!(await isSettled(context))) {
      if (performance.now() > giveUpAt) throw tooSlow(home.log);
      await pause(signal);
    }
  }
}

/** The other one is ready, or gone. */
async function isSettled({ home }: CommandContext): Promise<boolean> {
  const stack = await findStack(home);
  if (stack?.running) return stack.file.state === 'ready';
  return (await findOwner(home)) === undefined;
}

async function printFile({ home, terminal }: CommandContext, { json }: UpOptions): Promise<void> {
  const stack = json ? await findStack(home) : undefined;
  if (stack) terminal.out(JSON.stringify(stack.file));
}

/** We hold the lock until our child has it. Until then the log of the start is ours. */
async function start(context: CommandContext, options: UpOptions, lock: HomeLock, giveUpAt: number): Promise<void> {
  const { home, terminal } = context;
  let exit: { readonly code: number | null } | undefined;
  try {
    await mkdir(home.logs, { recursive: true });
    await rm(home.upLog, { force: true });
    const pid = spawnDetached({
      entry: join(checkoutRoot, 'packages', 'cli', 'src', 'main.ts'),
      args: [
        'up',
        '--quiet',
        '--json',
        ...options.tenant.flatMap((tenant) => ['--tenant', tenant]),
        ...(options.verbose ? ['--verbose'] : []),
      ],
      env: { ...inherited(context.env), CLEANSLATE_HOME: home.root, NO_COLOR: '1' },
      logFile: home.upLog,
      onExit: (code) => {
        exit = { code };
      },
    });
    const child = toIdentity(pid);
    try {
      const file = await waitReady(context, pid, () => exit, giveUpAt);
      if (options.json) terminal.out(JSON.stringify(file));
      else await printReady(context, file);
    } catch (error) {
      await end(context, child);
      throw error;
    }
  } finally {
    await lock.release();
  }
}

async function waitReady(
  context: CommandContext,
  pid: number,
  findExit: () => { readonly code: number | null } | undefined,
  giveUpAt: number,
) {
  const { home, signal } = context;
  const showNew = followLog(context);
  for (;;) {
    const exit = findExit();
    const failure = await showNew();
    if (exit) throw failure ?? endedEarly(home.log, exit.code);
    const stack = await findStack(home);
    if (stack?.running && stack.file.supervisor.pid === pid && stack.file.state === 'ready')
      return await waitWhole(context, stack.file);
    if (performance.now() > giveUpAt) throw tooSlow(home.log);
    await pause(signal);
  }
}

/** Nothing that didn't become ready, or wasn't waited for, is left running. */
async function end({ terminal }: CommandContext, child: { pid: number; startedAt: string }): Promise<void> {
  if (child.startedAt === '' || !isSameProcess(child)) return;
  terminal.note('stopping …');
  signalProcess(child, 'SIGTERM');
  const giveUpAt = performance.now() + GRACE_MS;
  while (isSameProcess(child)) {
    if (performance.now() > giveUpAt) signalProcess(child, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  terminal.note('stopped');
}

const Failure = z.object({ error: ErrorBody });

/** Each call shows the lines since the last one. Returns the error with which the start ended, once it is there. */
function followLog({ home, terminal }: CommandContext): () => Promise<AppError | undefined> {
  let shown = 0;
  let failure: AppError | undefined;
  return async () => {
    const text = await readFile(home.upLog, 'utf8').catch(() => '');
    const end = text.lastIndexOf('\n');
    if (end < shown) return failure;
    for (const line of text.slice(shown, end).split('\n')) {
      const found = readFailure(line);
      if (found) failure = found;
      else terminal.note(line);
    }
    shown = end + 1;
    return failure;
  };
}

function readFailure(line: string): AppError | undefined {
  if (!line.startsWith('{"error":')) return undefined;
  try {
    return AppError.fromBody(Failure.parse(JSON.parse(line)).error);
  } catch {
    return undefined;
  }
}

function endedEarly(log: string, code: number | null): Error {
  const what = code === 130 ? 'the stack was stopped while it started' : 'the stack ended while it started';
  return inputError({ code: 'INTERNAL', what, where: log, remedy: 'see that log; `slate doctor` checks the parts' });
}

function tooSlow(log: string): Error {
  const what = `the stack was not ready within ${READY_MS / 1_000} s`;
  const remedy = 'see that log; `slate doctor` checks the parts';
  return inputError({ code: 'REQUEST_TIMEOUT', what, where: log, remedy });
}

function inherited(env: CommandContext['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
