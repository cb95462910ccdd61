import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { Home } from '../stack/home.ts';
import { findOwner } from '../stack/home-lock.ts';
import { isSameProcess, signalProcess } from '../stack/process-identity.ts';
import { type FoundStack, findStack, removeStack, type StackFile } from '../stack/stack-file.ts';
import { withExamples } from './options.ts';

/** Longer than the grace period of the services, and of the servers after them. */
const GRACE_MS = 30_000;
const FILE_MS = 10_000;

export function addDown(program: Command, context: CommandContext): void {
  const command = program.command('down').description('stop the stack that `slate up` started here, nothing else');
  command.option('--json', 'print JSON for machines');
  withExamples(command, 'slate down', 'slate down --json');
  command.action(async ({ json }: { readonly json?: boolean }) => {
    const stopped = await down(context);
    if (json) context.terminal.out(JSON.stringify({ stopped }));
  });
}

/** False where none ran. */
async function down({ home, terminal }: CommandContext): Promise<boolean> {
  const stack = await findStarting(home);
  if (stack === undefined) {
    terminal.note('no stack runs here');
    return false;
  }
  const { supervisor, processes } = stack.file;
  signalProcess(supervisor, 'SIGTERM');
  if (stack.running) terminal.note('stopping …');
  if (!(await areGone(stack.file, GRACE_MS))) {
    // The supervisor asked them and waited; what is left does not react. Each is killed only if it still is the one we
    // started.
    const left = [supervisor, ...processes].filter(isSameProcess);
    for (const process of left) signalProcess(process, 'SIGKILL');
    terminal.note(`killed: ${left.map(({ name, pid }) => `${name} (${pid})`).join(', ')}`);
    await areGone(stack.file, 5_000);
  }
  await removeStack(home, supervisor);
  terminal.note(stack.running ? 'stopped' : 'it was gone already; its left-over is removed');
  return stack.running;
}

/** A stack that has just taken this home writes its file a moment later. */
async function findStarting(home: Home): Promise<FoundStack | undefined> {
  const giveUpAt = performance.now() + FILE_MS;
  for (;;) {
    const stack = await findStack(home);
    const starting = stack?.running !== true && (await findOwner(home)) !== undefined;
    if (!starting || performance.now() > giveUpAt) return stack;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function areGone({ supervisor, processes }: StackFile, timeoutMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs;
  while ([supervisor, ...processes].some(isSameProcess)) {
    if (performance.now() > giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}
