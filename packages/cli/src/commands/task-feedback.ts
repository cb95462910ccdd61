import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import { toTable } from '../view/table.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';
import { toPerson, withPerson } from './person.ts';

type FeedbackOptions = CommonOptions & {
  readonly wrong?: boolean;
  readonly right?: boolean;
  readonly note?: string;
  readonly by?: string;
};

export function addFeedback(task: Command, context: CommandContext): void {
  const command = withPerson(
    task
      .command('feedback <task>')
      .description(
        'say whether a task’s answer was right; the facts behind it gain or lose weight, and those of a wrong one are put up for review',
      ),
  )
    .option('--wrong', 'it was wrong')
    .option('--right', 'it was right')
    .option('--note <text>', 'what is wrong, for whoever reviews the facts');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate task feedback TASK --wrong --note "The rule was repealed in May."',
    'slate task feedback TASK --right --json',
  );
  command.action(async (taskId: string, options: FeedbackOptions) => {
    const { wrong, right, note, tenant, json } = options;
    if ((wrong === true) === (right === true))
      throw inputError({
        what: 'it is not said how the answer was',
        where: '--wrong',
        remedy: 'give one of --wrong and --right',
      });
    const { terminal } = context;
    await using client = await openClient(context, tenant);
    const verdict = wrong ? 'wrong' : 'right';
    const reply = await client.feedback({ taskId, verdict, by: toPerson(context, options), ...(note && { note }) });
    if (json) return terminal.out(JSON.stringify(reply));
    const rows = reply.facts.map(({ fact, weightBefore, weight }) => [fact, String(weightBefore), String(weight)]);
    for (const line of toTable(['FACT', 'WEIGHT BEFORE', 'NOW'], rows)) terminal.out(line);
    if (!reply.counted) terminal.note('you had said so already: nothing was changed');
    if (reply.reviews.length > 0) terminal.note(`under review: ${reply.reviews.join(', ')} (slate fact reviews)`);
  });
}
