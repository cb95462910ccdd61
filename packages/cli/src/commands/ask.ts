import { AccessLevel, type TaskView } from '@cleanslate/contracts';
import { MAX_QUESTION } from '@cleanslate/workflows';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import { followTask } from '../view/follow-task.ts';
import { findMarkdown, showTask } from '../view/show-task.ts';
import { parseTime } from '../view/time.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

type AskOptions = CommonOptions & {
  readonly validAt?: string;
  readonly accessLevel?: AccessLevel;
  readonly source?: readonly string[];
  readonly watch?: boolean;
};

/** `slate ask`: submits a task of the workflow `question-answering` and prints its answer. */
export function addAsk(program: Command, context: CommandContext): void {
  const command = program
    .command('ask <question...>')
    .description('ask the knowledge base: quoted facts with their sources, or what is not known')
    .option('--valid-at <time>', 'date or ISO time for which to answer (default: now)')
    .addOption(
      new Option('--access-level <level>', 'the highest access level to read from (default: internal)').choices(
        AccessLevel.options,
      ),
    )
    .option('-s, --source <name...>', 'sources to ask besides the knowledge base (docs/how-to/sources.md)')
    .option('--watch', 'show each step');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate ask "How long must invoices be kept?"',
    'slate ask "What was the mileage rate in March 2024?" --watch',
    'slate ask 供应商的付款期限是多少天？ --json',
    'slate ask "How much is reimbursed for a taxi ride?" --source travel-desk',
  );
  command.action((words: string[], options: AskOptions) => ask(context, words.join(' '), options));
}

async function ask(context: CommandContext, question: string, options: AskOptions): Promise<void> {
  const { terminal, signal } = context;
  if (question.trim() === '' || question.length > MAX_QUESTION)
    throw inputError({
      what: `a question of ${question.length} characters`,
      where: '<question...>',
      remedy: `ask in 1 to ${MAX_QUESTION} characters`,
    });
  const validAt = options.validAt === undefined ? undefined : parseTime(options.validAt, '--valid-at');
  const { accessLevel, source: sources } = options;
  const input = {
    question,
    ...(accessLevel === undefined ? {} : { accessLevel }),
    ...(sources === undefined ? {} : { sources: [...sources] }),
  };
  await using client = await openClient(context, options.tenant);
  const { taskId } = await client.submit({ workflow: 'question-answering', input, validAt }, { signal });
  const show = options.watch !== true ? 'silent' : options.json ? 'json' : 'lines';
  const task = await followTask(client, terminal, { taskId, signal, show });
  if (options.json) terminal.out(JSON.stringify(task));
  else showAnswer(context, task);
  if (task.state === 'failed') context.exitCode = EXIT.taskFailed;
}

function showAnswer({ terminal }: CommandContext, task: TaskView): void {
  const markdown = findMarkdown(task.result);
  if (task.state === 'failed' || markdown === undefined) return showTask(terminal, task);
  terminal.out(markdown.trimEnd());
  terminal.note(`  how it came about: slate task explain ${task.taskId}`);
}
