import { Argument, type Command, type Option } from 'commander';
import { type Completed, toCompletion } from '../completion/scripts.ts';
import type { CommandContext } from '../context.ts';
import { withExamples } from './options.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function addCompletion(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('completion')
    .description(`print the script that completes commands, options and values in ${SHELLS.join(', ')}`)
    .addArgument(new Argument('<shell>').choices(SHELLS));
  withExamples(
    command,
    'source <(slate completion bash)            # in ~/.bashrc',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: zsh's own
    'slate completion zsh > "${fpath[1]}/_slate"',
    'slate completion fish > ~/.config/fish/completions/slate.fish',
  );
  command.action((shell: (typeof SHELLS)[number]) =>
    terminal.out(toCompletion(shell, listCommands(program)).trimEnd()),
  );
}

/** Every command with what may follow it. */
function listCommands(command: Command, path: readonly string[] = [command.name()]): Completed[] {
  const help = command.createHelp();
  const named = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  const options = help.visibleOptions(command);
  return [
    {
      path,
      subcommands: named.map((each) => ({ name: each.name(), does: firstSentence(each.description()) })),
      choices: command.registeredArguments.flatMap((each) => each.argChoices ?? []),
      takesFile: command.registeredArguments.some((each) => each.name() === 'file'),
      options: options.map(toCompletedOption),
    },
    ...named.flatMap((each) => listCommands(each, [...path, each.name()])),
  ];
}

function toCompletedOption(option: Option): Completed['options'][number] {
  const takes = option.required || option.optional;
  const value = takes ? (/<(\w[\w-]*)/.exec(option.flags)?.[1] ?? 'value') : undefined;
  return {
    long: option.long ?? option.short ?? '',
    ...(option.short === undefined ? {} : { short: option.short }),
    does: firstSentence(option.description),
    ...(value === undefined ? {} : { value }),
    choices: option.argChoices ?? [],
  };
}

function firstSentence(text: string): string {
  return text.split(/[;:(]/)[0]?.trim() ?? '';
}
