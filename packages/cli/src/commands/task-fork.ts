import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { parseDeadline } from '../view/duration.ts';
import { parseTime } from '../view/time.ts';
import { type CommonOptions, parseCount, withCommonOptions, withExamples } from './options.ts';

type ForkOptions = CommonOptions & {
  readonly at?: string;
  readonly validAt?: string;
  readonly revision?: number;
  readonly deadline?: string;
};

export function addFork(task: Command, context: CommandContext): void {
  const command = task
    .command('fork <task>')
    .description('start a new task from an old one, which stays as it is')
    .option('--at <step>', 'the first step to run again; earlier steps keep their results (default: run all)')
    .option('--valid-at <time>', 'another date or ISO time of the knowledge to use')
    .option('--revision <number>', 'another knowledge revision', parseCount)
    .option('--deadline <duration>', 'counted from now, such as 10m (default: the duration of the old task)');
  withCommonOptions(command, context);
  withExamples(command, 'slate task fork TASK --at generate', 'slate task fork TASK --valid-at 2024-07-01 --json');
  command.action(async (taskId: string, options: ForkOptions) => {
    const { at, validAt, revision, deadline } = options;
    const request = {
      ...(at && { at }),
      ...(validAt && { validAt: parseTime(validAt, '--valid-at') }),
      ...(revision !== undefined && { revision }),
      ...(deadline && { deadlineMs: parseDeadline(deadline, '--deadline') }),
    };
    await using client = await openClient(context, options.tenant);
    const forked = await client.fork(taskId, request);
    if (options.json) return context.terminal.out(JSON.stringify(forked));
    const { validAt: pinnedAt, revision: pinned } = forked.pin;
    context.terminal.out(`forked ${forked.taskId} (knowledge valid at ${pinnedAt}, revision ${pinned})`);
    context.terminal.note(`  slate task watch ${forked.taskId}`);
  });
}
