import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { printDemo } from '../demo/print-demo.ts';
import { runDemo } from '../demo/run-demo.ts';
import type { DemoLanguage } from '../demo/samples.ts';
import { EXIT } from '../exit-code.ts';
import { withExamples } from './options.ts';

type Options = { readonly input?: string; readonly lang?: DemoLanguage; readonly json?: boolean };

export function addDemo(program: Command, context: CommandContext): void {
  const command = program
    .command('demo')
    .description('review a contract on a stack of its own, from submit to validated report, then stop everything')
    .option(
      '-i, --input <file>',
      'your own contract (.txt, .md, .docx, .pdf) in English or Chinese (default: a sample)',
    )
    .addOption(
      new Option('--lang <language>', 'language of sample and policies (default: that of the contract)').choices([
        'en',
        'zh',
      ]),
    )
    .option('--json', 'end with one JSON document on stdout: { task, report, evidence, timings }');
  withExamples(
    command,
    'npm run demo',
    'npm run demo -- --input my-contract.md',
    'npm run -s demo -- --lang zh --json',
  );
  command.action(async ({ json, ...options }: Options) => {
    const outcome = await runDemo(context, options);
    const { task, report, evidence, timings } = outcome;
    if (task.state !== 'completed') context.exitCode = EXIT.taskFailed;
    if (!json) return printDemo(context.terminal, outcome);
    const { taskId: id, state, error } = task;
    context.terminal.out(
      JSON.stringify({ task: { id, state, ...(error && { error }) }, report: report ?? null, evidence, timings }),
    );
  });
}
