import { type ErrorBody, toAppError } from '@cleanslate/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { EXIT, exitCodeOf } from '../exit-code.ts';
import { openClient } from '../target.ts';
import { assertChosen, collectLetters, type FilterOptions, toLetterQuery, withFilters } from './dlq-filter.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

type DiscardOptions = CommonOptions &
  Omit<FilterOptions, 'reason'> & { readonly because: string; readonly reason?: string; readonly all?: boolean };

export function addDiscard(dlq: Command, context: CommandContext): void {
  const command = dlq
    .command('discard [letter]')
    .description('close what nobody will replay: one letter, or all that match a filter; it stays on record');
  withFilters(command)
    .requiredOption('--because <text>', 'why; kept in the letter’s history')
    .option('--all', 'every open letter');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate dlq discard LETTER --because "the contract was withdrawn"',
    'slate dlq discard --reason UNPARSEABLE --older-than 7d --because "a load test"',
  );
  command.action(async (letterId: string | undefined, options: DiscardOptions) => {
    const { out } = context.terminal;
    const query = toLetterQuery(options);
    assertChosen(letterId, query, options.all);
    await using client = await openClient(context, options.tenant);
    if (letterId !== undefined) {
      const discarded = await client.deadLetters.discard(letterId, options.because);
      if (options.json) return out(JSON.stringify(discarded));
      return out(discarded.changed ? `discarded ${letterId}` : `${letterId} was discarded already`);
    }
    const letters = await collectLetters(client, { status: 'open', ...query });
    const discarded: string[] = [];
    const refused: { letterId: string; error: ErrorBody }[] = [];
    for (const letter of letters) {
      try {
        await client.deadLetters.discard(letter.letterId, options.because);
        discarded.push(letter.letterId);
      } catch (error) {
        if (exitCodeOf(error) !== EXIT.badInput) throw error;
        refused.push({ letterId: letter.letterId, error: toAppError(error).toBody() });
      }
    }
    if (options.json) out(JSON.stringify({ discarded, refused }));
    else {
      for (const { letterId: id, error } of refused) out(`refused ${id}: ${error.code} ${error.message}`);
      out(`discarded ${discarded.length} of ${letters.length}`);
    }
    if (refused.length > 0) context.exitCode = EXIT.taskFailed;
  });
}
