import type { Command } from 'commander';
import { readCliConfig } from '../src/config.ts';
import { createProgram } from '../src/program.ts';
import { toHome } from '../src/stack/home.ts';
import { type Output, openTerminal } from '../src/terminal.ts';

const HEAD = `# The command line

What each command says with \`--help\`. Made from the commands themselves: \`node packages/cli/scripts/generate-reference.ts\`.
`;

/** `docs/reference/cli.md`: each command's own help, in the order in which the help lists them. */
export function toReference(): string {
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text), columns: 110 };
  const commands = listAll(openProgram(output));
  const contents = commands.map((each) => `- [${nameOf(each)}](#${nameOf(each).replaceAll(' ', '-')})`);
  const sections = commands.map((command) => {
    command.configureHelp({ helpWidth: 110 });
    command.outputHelp();
    return `## ${nameOf(command)}\n\n\`\`\`\n${written.splice(0).join('').trimEnd()}\n\`\`\`\n`;
  });
  return `${HEAD}\n${contents.join('\n')}\n\n${sections.join('\n')}`;
}

/** The command line as it is without any configuration, to be looked at; what it prints goes to `output`. */
export function openProgram(output: Output): Command {
  const config = readCliConfig({});
  return createProgram({
    config,
    home: toHome(config.home),
    env: {},
    exitCode: 0,
    signal: new AbortController().signal,
    terminal: openTerminal({ stdout: output, stderr: output, plain: true }),
  });
}

/** The command and all under it, but for the built-in `help`. */
export function listAll(command: Command): Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return [command, ...visible.filter((each) => each.name() !== 'help').flatMap(listAll)];
}

export function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
