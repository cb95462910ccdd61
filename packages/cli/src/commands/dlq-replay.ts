import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import { parseDuration } from '../view/duration.ts';
import { cutTo, toTable } from '../view/table.ts';
import { type BulkReport, bulkExitCode, bulkReplay } from './dlq-bulk.ts';
import { type EditOptions, readEdit } from './dlq-edit.ts';
import { assertChosen, collectLetters, type FilterOptions, toLetterQuery, withFilters } from './dlq-filter.ts';
import { type CommonOptions, parseCount, withCommonOptions, withExamples } from './options.ts';

type ReplayOptions = CommonOptions &
  FilterOptions &
  EditOptions & {
    readonly all?: boolean;
    readonly force?: boolean;
    readonly dryRun?: boolean;
    readonly rate: number;
    readonly inFlight: number;
    readonly stopAfter: number;
    readonly wait: string;
    readonly batch?: string;
  };

export function addReplay(dlq: Command, context: CommandContext): void {
  const command = dlq
    .command('replay [letter]')
    .description('try again what was given up on, once its cause is fixed: one letter, or all that match a filter');
  withFilters(command)
    .option('--all', 'every open letter')
    .option('--dry-run', 'show what would be replayed and what would be refused; change nothing')
    .option('--force', 'also letters that were replayed before')
    .option('--edit <file>', 'one letter: use this as the step’s input (JSON), or as the message; - for stdin')
    .option('--set <path=value>', 'one letter: set this value in its input or message; repeatable', gather)
    .option('--rate <count>', 'filter: replays per second', parseCount, 20)
    .option('--in-flight <count>', 'filter: replays in flight at once', parseCount, 50)
    .option('--stop-after <count>', 'filter: stop when this many have failed again; 0: never', parseCount, 3)
    .option('--wait <duration>', 'filter: how long to wait for the last ones to end', '60s')
    .option('--batch <name>', 'filter: name of this bulk replay, to list its letters by');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate dlq replay LETTER',
    'slate dlq replay LETTER --set document.name=b.txt --dry-run',
    'slate dlq replay --reason ATTEMPTS_EXHAUSTED --workflow contract-review --since 2h --rate 5',
  );
  command.action((letterId: string | undefined, options: ReplayOptions) => {
    const query = toLetterQuery(options);
    assertChosen(letterId, query, options.all);
    return letterId === undefined ? replayMany(context, query, options) : replayOne(context, letterId, options);
  });
}

async function replayOne(context: CommandContext, letterId: string, options: ReplayOptions): Promise<void> {
  const { out, note } = context.terminal;
  const { tenant, json, force, dryRun } = options;
  await using client = await openClient(context, tenant);
  const wantsEdit = options.edit !== undefined || (options.set ?? []).length > 0;
  const edit = wantsEdit ? await readEdit(await client.deadLetters.show(letterId), options) : undefined;
  const replayed = await client.deadLetters.replay(letterId, {
    ...(force && { force }),
    ...(dryRun && { dryRun }),
    ...(edit && { edit }),
  });
  if (json) return out(JSON.stringify({ ...replayed, dryRun: dryRun === true }));
  const attempt = replayed.attempt === null ? '' : ` as attempt ${replayed.attempt}`;
  out(`${dryRun ? 'would be replayed' : 'replayed'}: ${letterId}${attempt}`);
  if (replayed.taskId !== null && !dryRun) note(`  slate task watch ${replayed.taskId}`);
}

async function replayMany(
  context: CommandContext,
  query: ReturnType<typeof toLetterQuery>,
  options: ReplayOptions,
): Promise<void> {
  const { terminal, signal } = context;
  if (options.edit !== undefined || options.set !== undefined)
    throw inputError({ what: 'an edit for many letters', where: '--edit', remedy: 'name one letter' });
  if (options.rate < 1 || options.rate > 1_000 || options.inFlight < 1 || options.inFlight > 500)
    throw inputError({ what: 'too few or too many', where: '--rate, --in-flight', remedy: '1 to 1,000 and 1 to 500' });
  const waitMs = parseDuration(options.wait, '--wait');
  await using client = await openClient(context, options.tenant);
  const letters = await collectLetters(client, { status: 'open', ...query });
  const batch = options.batch ?? `b-${randomUUID().slice(0, 8)}`;
  if (!options.json && !options.dryRun)
    terminal.note(
      `${letters.length} letters, ${options.rate}/s, as ${batch}; interrupted, say the same again to go on`,
    );
  const report = await bulkReplay(client, letters, {
    batch,
    waitMs,
    signal,
    rate: options.rate,
    inFlight: options.inFlight,
    stopAfter: options.stopAfter,
    force: options.force ?? false,
    dryRun: options.dryRun ?? false,
    onProgress: (done, of) => terminal.status(`  ${done} of ${of}`),
  });
  if (options.json) terminal.out(JSON.stringify({ ...report, dryRun: options.dryRun === true }));
  else print(context, report, options.dryRun === true);
  context.exitCode = bulkExitCode(report);
}

function print({ terminal }: CommandContext, report: BulkReport, dryRun: boolean): void {
  const rows = [
    ...(dryRun ? report.replayed.map((id) => [id, 'would be replayed', '']) : []),
    ...report.failedAgain.map((id) => [id, 'failed again', 'slate dlq list --status open']),
    ...report.refused.map(({ letterId, error }) => [
      letterId,
      'refused',
      cutTo(`${error.code}: ${error.message}`, 100),
    ]),
    ...report.parked.map((id) => [id, 'needs human', 'bulk replays failed three times: slate dlq show']),
    ...report.unsettled.map((id) => [id, 'under way', '']),
  ];
  if (rows.length > 0) for (const line of toTable(['LETTER', 'WHAT', 'WHY'], rows)) terminal.out(line);
  if (report.stopped)
    terminal.note(`stopped: ${report.failedAgain.length} failed again; ${report.notTried.length} not tried`);
  const well = report.replayed.length - report.failedAgain.length - report.unsettled.length;
  if (dryRun && rows.length === 0) terminal.out('no open dead letter matches');
  if (!dryRun) terminal.out(`${well} of ${report.selected} replayed and done`);
}

function gather(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
