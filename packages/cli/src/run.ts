import { CommanderError } from 'commander';
import { readCliConfig } from './config.ts';
import type { CommandContext } from './context.ts';
import { EXIT, exitCodeOf } from './exit-code.ts';
import { printError } from './print-error.ts';
import { createProgram } from './program.ts';
import { toHome } from './stack/home.ts';
import { type Output, openTerminal } from './terminal.ts';

export type World = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Ends what is running, in good order. */
  readonly signal: AbortSignal;
};

const INTERRUPTED = 130;

/** Runs one command line (without program and script) and returns its exit code; errors are printed, never thrown. */
export async function run(args: readonly string[], { env, stdout, stderr, signal }: World): Promise<number> {
  const plain = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb';
  const terminal = openTerminal({ stdout, stderr, plain });
  try {
    const config = readCliConfig(env);
    const context: CommandContext = { config, home: toHome(config.home), env, terminal, signal, exitCode: EXIT.ok };
    await createProgram(context).parseAsync(args, { from: 'user' });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.badInput;
    if (signal.aborted && isInterruption(error, signal)) return INTERRUPTED;
    printError(terminal, error, args.includes('--json'));
    return exitCodeOf(error);
  }
}

/** Timers and requests throw an AbortError of their own, with the signal's reason as its cause. */
function isInterruption(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}
