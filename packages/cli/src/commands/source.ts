import { AccessLevel } from '@cleanslate/contracts';
import type { Evidence, SourceMetadata, SourceParams } from '@cleanslate/domain';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { openSourcesFile } from '../input/sources-file.ts';
import { inputError } from '../input-error.ts';
import { cutTo, toTable } from '../view/table.ts';
import { parsePositive, withExamples } from './options.ts';

type FileOptions = { readonly file?: string; readonly json?: boolean };
type AskOptions = FileOptions & {
  readonly tenant: string;
  readonly param: readonly string[];
  readonly limit: number;
  readonly clearance: AccessLevel;
};

/** Sources are asked from here, with this shell's variables: for writing the file before a retriever gets it. */
export function addSource(program: Command, context: CommandContext): void {
  const source = program
    .command('source')
    .description('what agents can ask besides the knowledge base, tried from here');
  addList(source, context);
  addCheck(source, context);
  addAskSource(source, context);
}

function withFile(command: Command): Command {
  return command
    .option('--file <file>', 'YAML file that declares them (environment: SOURCES_FILE)')
    .option('--json', 'print JSON for machines');
}

function addList(source: Command, context: CommandContext): void {
  const command = withFile(
    source.command('list').description('list the sources of a file, and the parameters of each'),
  );
  withExamples(command, 'slate source list --file sources.yaml');
  command.action(async ({ file, json }: FileOptions) => {
    await using sources = await openSourcesFile(context, file);
    const all = sources.all.map(({ metadata }) => metadata);
    if (json) return context.terminal.out(JSON.stringify({ sources: all }));
    const rows = all.map((each) => [each.name, each.kind, each.accessLevel, toParams(each), cutTo(each.title, 60)]);
    for (const line of toTable(['NAME', 'KIND', 'ACCESS', 'PARAMETERS', 'TITLE'], rows)) context.terminal.out(line);
  });
}

function toParams({ params }: SourceMetadata): string {
  return params.map(({ name, required }) => (required ? name : `[${name}]`)).join(' ');
}

function addCheck(source: Command, context: CommandContext): void {
  const command = withFile(
    source.command('check').description('ask each source whether it is there; exit code 1 if one is not'),
  );
  withExamples(
    command,
    'slate source check --file sources.yaml',
    'kubectl exec deploy/retriever -- node /app/dist/run.mjs retriever --check-sources     # from where agents ask',
  );
  command.action(async ({ file, json }: FileOptions) => {
    const { terminal } = context;
    await using sources = await openSourcesFile(context, file);
    const states = await sources.check();
    if (json) terminal.out(JSON.stringify({ sources: states }));
    else
      for (const { name, kind, ok, says } of states)
        terminal.out(`${ok ? 'ok    ' : 'failed'}  ${name} (${kind}): ${says}`);
    if (states.some(({ ok }) => !ok)) context.exitCode = EXIT.taskFailed;
  });
}

function addAskSource(source: Command, context: CommandContext): void {
  const command = withFile(
    source
      .command('ask <name> [query...]')
      .description('ask one source, and show the evidence that an agent would get'),
  )
    .option('-t, --tenant <tenant>', 'who asks (environment: SLATE_TENANT)', context.config.tenant)
    .option('-p, --param <name=value>', 'a parameter; repeatable', collect, [])
    .option('--limit <count>', 'at most 50', parsePositive, 8)
    .addOption(
      new Option('--clearance <level>', 'the highest access level to read from')
        .choices(AccessLevel.options)
        .default('internal'),
    );
  withExamples(
    command,
    'slate source ask handbook how long is parental leave --file sources.yaml',
    'slate source ask payment-terms --param supplier=Acme',
  );
  command.action(async (name: string, words: string[], options: AskOptions) => {
    const { terminal, signal } = context;
    await using sources = await openSourcesFile(context, options.file);
    const asked = sources.get(options.tenant, name);
    const params = readParams(asked.metadata(), options.param, words.join(' '));
    const evidence = await asked.query(params, { limit: options.limit, clearance: options.clearance, signal });
    if (options.json) return terminal.out(JSON.stringify({ evidence }));
    for (const each of evidence) for (const line of describe(each)) terminal.out(line);
    terminal.note(`${evidence.length} pieces of evidence`);
  });
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function readParams({ params }: SourceMetadata, given: readonly string[], query: string): SourceParams {
  const types = new Map(params.map(({ name, type }) => [name, type]));
  const pairs = given.map((pair): [string, SourceParams[string]] => {
    const at = pair.indexOf('=');
    if (at < 1)
      throw inputError({ what: `"${pair}" is no name=value`, where: '--param', remedy: 'write --param supplier=Acme' });
    const [name, text] = [pair.slice(0, at), pair.slice(at + 1)];
    return [name, toValue(types.get(name), text)];
  });
  return Object.fromEntries([...pairs, ...(query === '' ? [] : [['query', query] as const])]);
}

function toValue(type: SourceMetadata['params'][number]['type'] | undefined, text: string): SourceParams[string] {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if ((type === 'integer' || type === 'number') && Number.isFinite(number)) return number;
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}

function describe({
  score,
  locator,
  title,
  content,
  validFrom,
  validUntil,
  version,
  accessLevel,
  flags,
}: Evidence): string[] {
  const period =
    validFrom === undefined && validUntil === undefined ? '' : `  ${validFrom ?? '…'} – ${validUntil ?? '…'}`;
  const told = [accessLevel, ...(version === undefined ? [] : [`version ${version}`]), ...flags].join(', ');
  return [
    `${score.toFixed(3)}  ${locator}${title === undefined ? '' : `  (${title})`}`,
    `       ${told}${period}`,
    ...content.split('\n').map((line) => `       ${line}`.trimEnd()),
  ];
}
