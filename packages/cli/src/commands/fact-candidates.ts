import { CandidateView } from '@cleanslate/contracts';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { cutTo, toTable } from '../view/table.ts';
import {
  type CommonOptions,
  type PageOptions,
  tellNext,
  withCommonOptions,
  withExamples,
  withPage,
} from './options.ts';

type CandidateOptions = CommonOptions &
  PageOptions & { readonly task?: string; readonly state?: CandidateView['state'] };

export function addCandidates(fact: Command, context: CommandContext): void {
  const command = fact
    .command('candidates')
    .description('list what was proposed as knowledge (the blackboard), newest first, and what became of it')
    .option('--task <task>', 'only of this task')
    .addOption(new Option('--state <state>', 'only in this state').choices(CandidateView.shape.state.options));
  withPage(command);
  withCommonOptions(command, context);
  withExamples(command, 'slate fact candidates', 'slate fact candidates --state held --json');
  command.action(async ({ task, state, limit, cursor, tenant, json }: CandidateOptions) => {
    const { terminal } = context;
    await using client = await openClient(context, tenant);
    const page = await client.facts.candidates({
      limit,
      ...(task && { taskId: task }),
      ...(state && { state }),
      ...(cursor && { before: cursor }),
    });
    if (json) return terminal.out(JSON.stringify(page));
    if (page.candidates.length === 0) return terminal.note('nothing lies there');
    const rows = page.candidates.map((each) => [
      each.outcome ?? each.state,
      each.knowledgeId === null ? '-' : `${each.knowledgeId}@${each.version ?? '?'}`,
      cutTo(each.candidate.statement, 60),
      each.taskId,
      each.stepId,
      cutTo(each.reason ?? '', 50),
    ]);
    for (const line of toTable(['STATE', 'FACT', 'STATEMENT', 'TASK', 'STEP', 'WHY'], rows)) terminal.out(line);
    tellNext(terminal, 'slate fact candidates', page.next);
  });
}
