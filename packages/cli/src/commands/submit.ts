import { Priority, TOKEN_PATTERN } from '@cleanslate/contracts';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { readInputOf } from '../input/read-input-of.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import { parseDeadline } from '../view/duration.ts';
import { followTask } from '../view/follow-task.ts';
import { showTask } from '../view/show-task.ts';
import { parseTime } from '../view/time.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

type SubmitOptions = CommonOptions & {
  readonly input?: string;
  readonly key?: string;
  readonly deadline?: string;
  readonly validAt?: string;
  readonly priority?: Priority;
  readonly wait?: boolean;
  readonly watch?: boolean;
};

export function addSubmit(program: Command, context: CommandContext): void {
  const command = program
    .command('submit <workflow>')
    .description('submit a task and wait until it is accepted')
    .option(
      '-i, --input <file>',
      'contract (.txt, .md, .docx, .pdf), JSON object (.json), or - for stdin; may be omitted if the workflow takes none',
    )
    .option('-k, --key <key>', 'idempotency key: the same key is the same task')
    .option('--deadline <duration>', 'counted from acceptance, such as 90s, 10m, 2h (default: 1h)')
    .option('--valid-at <time>', 'date or ISO time of the knowledge to use (default: now)')
    .addOption(
      new Option('--priority <priority>', 'before or after other tasks of the tenant').choices(Priority.options),
    )
    .option('--wait', 'wait until the task has ended and print the result')
    .option('--watch', 'like --wait, and show each step');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate submit contract-review --input contract.md --watch',
    'slate submit noop --wait',
    'slate submit contract-review --input contract.txt --key order-4711 --valid-at 2024-07-01 --wait --json',
  );
  command.action((workflow: string, options: SubmitOptions) => submit(context, workflow, options));
}

async function submit(context: CommandContext, workflow: string, options: SubmitOptions): Promise<void> {
  const { terminal, signal } = context;
  if (!TOKEN_PATTERN.test(workflow)) {
    throw inputError({
      code: 'UNKNOWN_WORKFLOW',
      what: `"${workflow}" can't be a workflow's name`,
      where: '<workflow>',
      remedy: 'such as contract-review',
    });
  }
  const deadlineMs = options.deadline === undefined ? undefined : parseDeadline(options.deadline, '--deadline');
  const validAt = options.validAt === undefined ? undefined : parseTime(options.validAt, '--valid-at');
  const input = await readInputOf(workflow, options.input);
  await using client = await openClient(context, options.tenant);
  const { key, priority } = options;
  const submitted = await client.submit({ workflow, input, key, deadlineMs, validAt, priority }, { signal });
  const follows = options.wait === true || options.watch === true;
  if (!follows && options.json) return terminal.out(JSON.stringify(submitted));
  if (!options.json) {
    const known = submitted.duplicate ? `, known already: ${submitted.state}` : '';
    (follows ? terminal.note : terminal.out)(`accepted ${submitted.taskId}${known}`);
  }
  if (!follows) return terminal.note(`  slate task watch ${submitted.taskId}`);
  const show = options.watch !== true ? 'silent' : options.json ? 'json' : 'lines';
  const task = await followTask(client, terminal, { taskId: submitted.taskId, signal, show });
  if (options.json) terminal.out(JSON.stringify(task));
  else showTask(terminal, task);
  if (task.state === 'failed') context.exitCode = EXIT.taskFailed;
}
