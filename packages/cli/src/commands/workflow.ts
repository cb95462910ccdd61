import { listWorkflows, removeWorkflow } from '@cleanslate/store';
import { WORKFLOWS } from '@cleanslate/workflows';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { reach } from '../reach-database.ts';
import { toTable } from '../view/table.ts';
import { findAdminUrl } from './migrate.ts';
import { withExamples } from './options.ts';

type Json = { readonly json?: boolean };

export function addWorkflow(program: Command, context: CommandContext): void {
  const workflow = program
    .command('workflow')
    .description('what can be submitted: the built-in workflows and your own');
  addWorkflowList(workflow, context);
  addWorkflowRemove(workflow, context);
}

function addWorkflowList(workflow: Command, context: CommandContext): void {
  const command = workflow
    .command('list')
    .description(
      'list all workflows, built-in ones and those that workers registered, with the tasks and schedules of each',
    )
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate workflow list');
  command.action(async ({ json }: Json) => {
    const { out } = context.terminal;
    const brought = await reach(listWorkflows(await findAdminUrl(context)));
    const builtIn = WORKFLOWS.map(({ name, plan }) => ({ workflow: name, builtIn: true, steps: plan.steps.length }));
    const workflows = [...builtIn, ...brought.map((each) => ({ ...each, builtIn: false }))];
    if (json) return out(JSON.stringify({ workflows }));
    const rows = [
      ...builtIn.map(({ workflow, steps }) => [workflow, 'built in', String(steps), '', '', '']),
      ...brought.map(({ workflow, role, steps, unfinishedTasks, schedules, registeredAt }) => [
        workflow,
        `role ${role}`,
        String(steps),
        String(unfinishedTasks),
        String(schedules),
        registeredAt,
      ]),
    ];
    for (const line of toTable(['WORKFLOW', 'FROM', 'STEPS', 'UNFINISHED', 'SCHEDULES', 'BROUGHT'], rows)) out(line);
  });
}

function addWorkflowRemove(workflow: Command, context: CommandContext): void {
  const command = workflow
    .command('remove <workflow>')
    .description('remove a workflow that workers registered; tasks under way go on with the plan they began with')
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate workflow remove digest');
  command.action(async (name: string, { json }: Json) => {
    const { out, note } = context.terminal;
    if (WORKFLOWS.some((builtIn) => builtIn.name === name))
      throw refused(`"${name}" is built in`, 'name one that workers brought: `slate workflow list`');
    const { role, workers, schedules } = await reach(removeWorkflow(await findAdminUrl(context), name));
    if (role === undefined) throw refused(`there is no workflow "${name}"`, 'see `slate workflow list`');
    if (schedules > 0)
      throw refused(
        `${schedules === 1 ? '1 schedule starts' : `${schedules} schedules start`} "${name}"`,
        'delete what starts it, in each tenant: `slate schedule list`, `slate schedule remove`',
      );
    if (json) return out(JSON.stringify({ workflow: name, role, removed: true, workers }));
    out(`workflow ${name} removed`);
    if (workers > 0)
      note(
        `workers of role ${role} bring it again when they start: take it out of what they run, or \`slate role remove ${role}\``,
      );
  });
}

function refused(what: string, remedy: string): Error {
  return inputError({ what, where: '<workflow>', remedy });
}
