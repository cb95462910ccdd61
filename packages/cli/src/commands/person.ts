import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

/** Who says so: for commands that a person answers for. */
export function withPerson(command: Command): Command {
  return command.option('--by <name>', 'who says so (environment: SLATE_PERSON; default: your login name)');
}

export function toPerson({ config }: CommandContext, { by }: { readonly by?: string }): string {
  return by ?? config.person ?? userInfo().username;
}
