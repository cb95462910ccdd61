import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../context.ts';

export type CommonOptions = { readonly json?: boolean; readonly tenant: string };

/** Options of every command that talks to the platform. */
export function withCommonOptions(command: Command, context: CommandContext): Command {
  return command
    .option('-t, --tenant <tenant>', 'whose data (environment: SLATE_TENANT)', context.config.tenant)
    .option('--json', 'print JSON for machines');
}

export type PageOptions = { readonly limit: number; readonly cursor?: string };

/** Options of every listing. `most`: the endpoint's limit. */
export function withPage(command: Command, most = 500): Command {
  return command
    .option('--limit <count>', `at most ${most}`, parsePositive, 50)
    .option('--cursor <cursor>', 'continue a listing: the "next" of the page before');
}

/** How to see the next page, if there is one. */
export function tellNext({ note }: CommandContext['terminal'], listing: string, next: string | null): void {
  if (next !== null) note(`more: ${listing} --cursor '${next}'`);
}

export function parseCount(text: string): number {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('write a whole number.');
}

/** At least one: there is no page of zero items and no stream without a copy. */
export function parsePositive(text: string): number {
  const count = parseCount(text);
  if (count > 0) return count;
  throw new InvalidArgumentError('write a whole number above 0.');
}

/** Examples under `--help`. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`);
}
