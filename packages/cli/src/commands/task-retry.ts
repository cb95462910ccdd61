import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { parseDeadline } from '../view/duration.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

type RetryOptions = CommonOptions & { readonly deadline?: string };

export function addRetry(task: Command, context: CommandContext): void {
  const command = task
    .command('retry <task>')
    .description('run a failed task again: finished steps keep their results, attempts and rounds count from the start')
    .option('--deadline <duration>', 'counted from now, such as 10m (default: the original duration)');
  withCommonOptions(command, context);
  withExamples(command, 'slate task retry 0b6f9b3e-0d0c-5f0e-8a54-6f2f0f7e4d11 --deadline 2h');
  command.action(async (taskId: string, { tenant, json, deadline }: RetryOptions) => {
    const deadlineMs = deadline === undefined ? undefined : parseDeadline(deadline, '--deadline');
    await using client = await openClient(context, tenant);
    const retried = await client.retry(taskId, deadlineMs === undefined ? {} : { deadlineMs });
    if (json) return context.terminal.out(JSON.stringify(retried));
    context.terminal.out(`${taskId} is ${retried.state} again, deadline ${retried.deadline}`);
    context.terminal.note(`  slate task watch ${taskId}`);
  });
}
