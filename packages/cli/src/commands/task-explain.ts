import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { explainTask } from '../explain/explain-task.ts';
import { showExplanation } from '../explain/show-explanation.ts';
import { openClient } from '../target.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

export function addExplain(task: Command, context: CommandContext): void {
  const command = task
    .command('explain <task>')
    .description('why a task ended as it did: output → evidence → fact version → source; attempts, failures, repairs')
    .addHelpText(
      'after',
      `
What it shows:
  why        in one sentence, and what a person can do about it
  steps      each with its attempts, and every failure of each
  evidence   what the result rests on: passages, and fact versions read anew at the task's pin, each with its source
  learned    what it put on the blackboard, and what became of that
  odd        reports that came too late, repairs, dead letters`,
    );
  withCommonOptions(command, context);
  withExamples(command, 'slate task explain TASK', 'slate task explain TASK --json | jq .evidence');
  command.action(async (taskId: string, { tenant, json }: CommonOptions) => {
    await using client = await openClient(context, tenant);
    const explanation = await explainTask(client, taskId);
    if (json) context.terminal.out(JSON.stringify(explanation));
    else showExplanation(context.terminal, explanation);
  });
}
