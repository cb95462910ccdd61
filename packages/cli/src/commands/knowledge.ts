import type { LaunderReport } from '@cleanslate/contracts';
import { isAppError } from '@cleanslate/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import type { Terminal } from '../terminal.ts';
import { toTable } from '../view/table.ts';
import { type CommonOptions, parsePositive, withCommonOptions, withExamples } from './options.ts';

type LaunderOptions = CommonOptions & { readonly dryRun?: boolean; readonly report?: number };

export function addKnowledge(program: Command, context: CommandContext): void {
  const knowledge = program.command('knowledge').description('keep the knowledge base clean');
  addLaunder(knowledge, context);
  addReports(knowledge, context);
}

function addLaunder(knowledge: Command, context: CommandContext): void {
  const command = knowledge
    .command('launder')
    .description('merge duplicates, dispute contradictions, archive facts that faded unused; also runs on a timetable')
    .option('--dry-run', 'show what would be done, and do nothing')
    .option('--report <number>', 'show the report of an earlier run instead', parsePositive);
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate knowledge launder --dry-run',
    'slate knowledge launder',
    'slate knowledge launder --report 12 --json',
  );
  command.action(async ({ dryRun, report, tenant, json }: LaunderOptions) => {
    const { terminal } = context;
    if (dryRun && report !== undefined)
      throw inputError({
        what: 'a report is of a run that was',
        where: '--dry-run',
        remedy: 'leave one of the two out',
      });
    await using client = await openClient(context, tenant);
    const shown =
      report === undefined
        ? await client.knowledge.launder(dryRun ? { dryRun } : {}).catch((error) => {
            throw dryRun ? error : toUnended(error);
          })
        : (await client.knowledge.reports({ reportId: report }))[0];
    if (shown === undefined)
      throw inputError({
        what: `no report ${report}`,
        where: '--report',
        remedy: '`slate knowledge reports` lists them',
      });
    if (json) return terminal.out(JSON.stringify(shown));
    showReport(terminal, shown);
  });
}

/** A run that takes longer than anybody waits for its answer goes on: its user can look at the report. */
export function toUnended(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'REQUEST_TIMEOUT') return error;
  const remedy = 'do not start another one: `slate knowledge reports` shows it once it has ended';
  return inputError({ code: error.code, what: 'no answer yet: it may go on', where: 'launder', remedy }, error);
}

type ReportsOptions = CommonOptions & { readonly limit?: number };

function addReports(knowledge: Command, context: CommandContext): void {
  const command = knowledge
    .command('reports')
    .description('list what earlier runs of laundering did, newest first')
    .option('--limit <count>', 'at most 100 (default 20)', parsePositive);
  withCommonOptions(command, context);
  withExamples(command, 'slate knowledge reports');
  command.action(async ({ limit, tenant, json }: ReportsOptions) => {
    const { out, note } = context.terminal;
    await using client = await openClient(context, tenant);
    const reports = await client.knowledge.reports(limit === undefined ? {} : { limit });
    if (json) return out(JSON.stringify({ reports }));
    if (reports.length === 0) return note('it has not been laundered yet');
    const rows = reports.map((report) => [
      `${report.reportId}`,
      report.finishedAt.slice(0, 19).replace('T', ' '),
      report.askedBy,
      ...(['merge', 'dispute', 'archive'] as const).map((kind) => `${count(report, kind)}`),
      `${report.proposals.length}`,
    ]);
    for (const line of toTable(['REPORT', 'AT (UTC)', 'BY', 'MERGED', 'DISPUTED', 'ARCHIVED', 'PROPOSED'], rows))
      out(line);
    note('slate knowledge launder --report NUMBER shows one');
  });
}

function count({ actions }: LaunderReport, kind: LaunderReport['actions'][number]['action']): number {
  return actions.filter(({ action }) => action === kind).length;
}

function showReport({ out, note, style }: Terminal, report: LaunderReport): void {
  const preview = report.reportId === null;
  out(
    style(
      'bold',
      preview ? 'a run now would' : `report ${report.reportId}, ${report.finishedAt}, revision ${report.revision}`,
    ),
  );
  for (const action of report.actions) out(`  ${describe(action)}`);
  if (report.actions.length === 0) out('  nothing to do');
  if (report.proposals.length > 0) {
    out();
    out(style('bold', 'for a person to look at'));
    for (const { proposal, fact, other, detail } of report.proposals)
      out(`  ${proposal.replace('_', ' ').padEnd(13)} ${fact}${other === null ? '' : ` and ${other}`}: ${detail}`);
  }
  const { writeAccuracy, sampled, recallHitRate, tasks } = report.measures;
  out();
  out(`  write accuracy   ${share(writeAccuracy)} of ${sampled} versions that agents wrote in 30 days`);
  out(`  recall hit rate  ${share(recallHitRate)} of ${tasks} tasks that read facts in 30 days`);
  if (report.more) note('there is more than one run takes on: run it again');
  if (!preview && count(report, 'archive') > 0) note('slate fact unarchive brings a fact back');
}

function describe(action: LaunderReport['actions'][number]): string {
  if (action.action === 'merge') return `merge    ${action.fact} into ${action.into}, which says the same`;
  if (action.action === 'dispute') return `dispute  ${action.fact}: ${action.challenger} says otherwise`;
  const used = action.lastUsedAt === null ? 'never used' : `last used ${action.lastUsedAt.slice(0, 10)}`;
  return `archive  ${action.fact}: importance ${action.importance} by now, ${used}`;
}

function share(ratio: number | null): string {
  return ratio === null ? '–' : `${(100 * ratio).toFixed(1)} %`;
}
