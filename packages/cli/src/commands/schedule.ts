import { MissedPolicy, OverlapPolicy, Priority } from '@cleanslate/contracts';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { readInputOf } from '../input/read-input-of.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import { toTable } from '../view/table.ts';
import {
  type CommonOptions,
  type PageOptions,
  parseCount,
  tellNext,
  withCommonOptions,
  withExamples,
  withPage,
} from './options.ts';

export function addSchedule(program: Command, context: CommandContext): void {
  const schedule = program.command('schedule').description('tasks that start on a timetable');
  addAdd(schedule, context);
  addList(schedule, context);
  for (const verb of ['pause', 'resume', 'remove'] as const) addSwitch(schedule, context, verb);
}

type AddOptions = CommonOptions & {
  readonly cron: string;
  readonly input?: string;
  readonly timeZone?: string;
  readonly overlap?: OverlapPolicy;
  readonly missed?: MissedPolicy;
  readonly backlog?: number;
  readonly deadlineMs?: number;
  readonly priority?: Priority;
};

function addAdd(schedule: Command, context: CommandContext): void {
  const command = schedule
    .command('add <schedule> <workflow>')
    .description('create a schedule, or replace the one of that name')
    .requiredOption('--cron <rule>', 'minute hour day month weekday (or six fields, seconds first)')
    .option('--input <file>', 'input of each run, as for `slate submit`; may be omitted if the workflow takes none')
    .option('--time-zone <name>', 'IANA name, such as Europe/Berlin (default: UTC)')
    .addOption(new Option('--overlap <policy>', 'while a run is still going').choices(OverlapPolicy.options))
    .addOption(new Option('--missed <policy>', 'runs missed in an outage').choices(MissedPolicy.options))
    .option('--backlog <count>', 'most missed or waiting runs to keep (default: 10)', parseCount)
    .option('--deadline-ms <ms>', 'deadline of each run, from its start', parseCount)
    .addOption(
      new Option('--priority <priority>', 'before or after other tasks of the tenant').choices(Priority.options),
    );
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate schedule add nightly contract-review --cron "30 2 * * *" --time-zone Europe/Berlin --input contract.md',
    'slate schedule add watch policy-check --cron "*/5 * * * *" --input input.json --overlap replace --missed skip',
  );
  command.action(async (scheduleId: string, workflow: string, options: AddOptions) => {
    const { tenant, json, input: file, ...settings } = options;
    const input = await readInputOf(workflow, file);
    await using client = await openClient(context, tenant);
    const answer = await client.schedules.put({ scheduleId, workflow, input, ...settings });
    if (json) return context.terminal.out(JSON.stringify(answer));
    context.terminal.out(`schedule ${scheduleId}  next ${answer.nextDueAt ?? 'never'}`);
  });
}

function addList(schedule: Command, context: CommandContext): void {
  const command = withPage(schedule.command('list').description('schedules by name'));
  withCommonOptions(command, context);
  withExamples(command, 'slate schedule list', 'slate schedule list --json');
  command.action(async ({ limit, cursor, tenant, json }: CommonOptions & PageOptions) => {
    const { out, note } = context.terminal;
    await using client = await openClient(context, tenant);
    const page = await client.schedules.list({ limit, ...(cursor && { after: cursor }) });
    if (json) return out(JSON.stringify(page));
    if (page.schedules.length === 0) return note('no schedules');
    const rows = page.schedules.map((each) => [
      each.scheduleId,
      each.workflow,
      `${each.cron} (${each.timeZone})`,
      each.enabled ? (each.nextDueAt ?? 'never') : 'paused',
      String(each.runs),
      String(each.waiting),
      String(each.skipped),
      each.lastError?.code ?? each.lastTaskId ?? '-',
    ]);
    for (const line of toTable(['SCHEDULE', 'WORKFLOW', 'RULE', 'NEXT', 'RUNS', 'WAIT', 'SKIPPED', 'LAST'], rows))
      out(line);
    tellNext(context.terminal, 'slate schedule list', page.next);
  });
}

const SWITCHES = {
  pause: { does: 'start no runs until it is resumed; a current run goes on', method: 'pause' },
  resume: { does: 'start runs again; runs missed during the pause are not made up for', method: 'resume' },
  remove: { does: 'delete a schedule; its tasks stay', method: 'delete' },
} as const;

function addSwitch(schedule: Command, context: CommandContext, verb: keyof typeof SWITCHES): void {
  const { does, method } = SWITCHES[verb];
  const command = schedule.command(`${verb} <schedule>`).description(does);
  withCommonOptions(command, context);
  withExamples(command, `slate schedule ${verb} nightly`);
  command.action(async (scheduleId: string, { tenant, json }: CommonOptions) => {
    await using client = await openClient(context, tenant);
    const answer = await client.schedules[method](scheduleId);
    // The platform treats deleting a missing schedule as done; for a person the name is most likely a slip.
    if (verb === 'remove' && !answer.changed)
      throw inputError({
        code: 'NOT_FOUND',
        what: `there is no schedule "${scheduleId}"`,
        where: '<schedule>',
        remedy: 'see `slate schedule list`',
      });
    if (json) return context.terminal.out(JSON.stringify(answer));
    const next = verb === 'resume' ? `  next ${answer.nextDueAt ?? 'never'}` : '';
    context.terminal.out(`schedule ${scheduleId}  ${answer.changed ? `${verb}d` : 'nothing changed'}${next}`);
  });
}
