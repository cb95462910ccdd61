import { isTerminal, parseCursor } from '@cleanslate/client';
import { TASK_STATES, type TaskState } from '@cleanslate/contracts';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { openClient } from '../target.ts';
import { describeItems, paint } from '../view/describe-item.ts';
import { followTask } from '../view/follow-task.ts';
import { showTask } from '../view/show-task.ts';
import { cutTo, toTable } from '../view/table.ts';
import {
  type CommonOptions,
  type PageOptions,
  tellNext,
  withCommonOptions,
  withExamples,
  withPage,
} from './options.ts';
import { addExplain } from './task-explain.ts';
import { addFeedback } from './task-feedback.ts';
import { addFork } from './task-fork.ts';
import { addGateCommands } from './task-gate.ts';
import { addRetry } from './task-retry.ts';

export function addTask(program: Command, context: CommandContext): void {
  const task = program.command('task').description('show tasks, follow them, decide about them');
  addList(task, context);
  addShow(task, context);
  addExplain(task, context);
  addWatch(task, context);
  addCancel(task, context);
  addRetry(task, context);
  addFork(task, context);
  addFeedback(task, context);
  addGateCommands(task, context);
}

type ListOptions = CommonOptions & PageOptions & { readonly state?: TaskState; readonly workflow?: string };

function addList(task: Command, context: CommandContext): void {
  const command = task
    .command('list')
    .description('tasks, newest first')
    .addOption(new Option('--state <state>', 'only in this state').choices(TASK_STATES))
    .option('--workflow <workflow>', 'only of this workflow');
  withPage(command);
  withCommonOptions(command, context);
  withExamples(command, 'slate task list --state failed', 'slate task list --json | jq .tasks[].taskId');
  command.action(async ({ state, workflow, limit, cursor, tenant, json }: ListOptions) => {
    const { terminal } = context;
    await using client = await openClient(context, tenant);
    const query = {
      ...(state && { state }),
      ...(workflow && { workflow }),
      limit,
      ...(cursor && { before: cursor }),
    };
    const page = await client.tasks(query);
    if (json) return terminal.out(JSON.stringify(page));
    const rows = page.tasks.map((each) => [
      each.taskId,
      each.workflow,
      paint(each.state, terminal),
      each.createdAt,
      each.error ? cutTo(`${each.error.code}: ${each.error.message}`, 60) : '',
    ]);
    if (rows.length === 0) return terminal.note('no tasks');
    for (const line of toTable(['TASK', 'WORKFLOW', 'STATE', 'CREATED', 'ERROR'], rows)) terminal.out(line);
    tellNext(terminal, 'slate task list', page.next);
  });
}

function addShow(task: Command, context: CommandContext): void {
  const command = task.command('show <task>').description('one task with its steps and result');
  withCommonOptions(command, context);
  withExamples(command, 'slate task show 0b6f9b3e-0d0c-5f0e-8a54-6f2f0f7e4d11');
  command.action(async (taskId: string, { tenant, json }: CommonOptions) => {
    await using client = await openClient(context, tenant);
    const view = await client.task(taskId);
    if (json) context.terminal.out(JSON.stringify(view));
    else showTask(context.terminal, view);
  });
}

type WatchOptions = CommonOptions & { readonly after?: string };

function addWatch(task: Command, context: CommandContext): void {
  const command = task
    .command('watch [task]')
    .description('follow one task to its end, or all tasks until ^C; no event is missed')
    .option('--after <cursor>', 'start after this <epoch>-<position>');
  withCommonOptions(command, context);
  withExamples(command, 'slate task watch 0b6f9b3e-0d0c-5f0e-8a54-6f2f0f7e4d11', 'slate task watch --json');
  command.action((taskId: string | undefined, options: WatchOptions) => watch(context, taskId, options));
}

async function watch(context: CommandContext, taskId: string | undefined, options: WatchOptions): Promise<void> {
  const { terminal, signal } = context;
  const after = options.after === undefined ? undefined : parseCursor(options.after, '--after');
  await using client = await openClient(context, options.tenant);
  if (taskId !== undefined) {
    const show = options.json ? 'json' : 'lines';
    const view = await followTask(client, terminal, { taskId, after, signal, show });
    if (view.state === 'failed') context.exitCode = EXIT.taskFailed;
    return;
  }
  const describe = describeItems(terminal);
  const onTrouble = (error: Error) => terminal.note(`… ${error.message}; it goes on by itself`);
  for await (const item of client.watch({ after, signal, onTrouble })) {
    const line = options.json ? JSON.stringify(item) : describe(item);
    if (line !== undefined) terminal.out(options.json ? line : `${item.taskId.slice(0, 8)}  ${line}`);
  }
}

type CancelOptions = CommonOptions & { readonly reason?: string };

function addCancel(task: Command, context: CommandContext): void {
  const command = task
    .command('cancel <task>')
    .description('end a task as failed with CANCELLED')
    .option('--reason <text>', 'kept with the task');
  withCommonOptions(command, context);
  withExamples(command, 'slate task cancel 0b6f9b3e-0d0c-5f0e-8a54-6f2f0f7e4d11 --reason "wrong document"');
  command.action(async (taskId: string, { tenant, json, reason }: CancelOptions) => {
    await using client = await openClient(context, tenant);
    const outcome = await client.cancel(taskId, reason);
    if (json) return context.terminal.out(JSON.stringify(outcome));
    const { state, changed } = outcome;
    const isEnding = !isTerminal(state);
    if (changed) {
      context.terminal.out(`cancelled ${taskId}${isEnding ? '; what its finished steps did is undone first' : ''}`);
    } else {
      const is = isEnding ? 'has failed already, and what its finished steps did is being undone' : `is ${state}`;
      context.terminal.out(`nothing to cancel: ${taskId} ${is}`);
    }
  });
}
