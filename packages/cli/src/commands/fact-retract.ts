import { type Client, rerunTasks } from '@cleanslate/client';
import { isAppError } from '@cleanslate/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { inputError } from '../input-error.ts';
import { openClient } from '../target.ts';
import { parseTime } from '../view/time.ts';
import { parseFactRef } from './fact-ref.ts';
import { type CommonOptions, parsePositive, withCommonOptions, withExamples } from './options.ts';

type RetractOptions = CommonOptions & {
  readonly from?: string;
  readonly until?: string;
  readonly reason: string;
  readonly task?: string;
  readonly source?: string;
  readonly evenConfirmed?: boolean;
  readonly rerun?: boolean;
  readonly rate: number;
  readonly inFlight: number;
  readonly dryRun?: boolean;
};

export function addRetract(fact: Command, context: CommandContext): void {
  const command = fact
    .command('retract [fact]')
    .description(
      'stop believing a fact, one version of it (id@version), or everything from a source; earlier revisions still show it',
    )
    .requiredOption('--reason <text>', 'why; kept in the audit')
    .option('--from <time>', 'it was in force until then (default: it never was)')
    .option('--until <time>', 'it is in force again from then on')
    .option('--task <task>', 'everything that this task contributed, in one revision')
    .option('--source <ref>', 'everything that this document or address contributed, in one revision')
    .option('--even-confirmed', 'with --source: also what other sources confirm')
    .option('--rerun', 'then run every task again whose answer rests on it; repeating the command runs none twice')
    .option('--rate <count>', 'most new tasks per second', parsePositive, 5)
    .option('--in-flight <count>', 'most new tasks in flight at once', parsePositive, 10)
    .option('--dry-run', 'only show what would be done');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate fact retract payment-term-max-days --reason "withdrawn by legal"',
    'slate fact retract payment-term-max-days@3 --from 2025-06-30 --reason "repealed"',
    'slate fact retract payment-term-max-days --reason "misread" --rerun --dry-run',
    'slate fact retract --source doc:offer-17 --reason "the scan was unreadable"',
  );
  command.action(async (ref: string | undefined, options: RetractOptions) => {
    await using client = await openClient(context, options.tenant);
    if (ref === undefined) return await retractSource(context, client, options);
    if (options.task !== undefined || options.source !== undefined)
      throw inputError({
        what: 'a fact and a source were both named',
        where: '<fact>',
        remedy: 'retract one after the other',
      });
    if (options.dryRun) return await preview(context, client, ref, options);
    await retractOne(context, client, ref, options);
  });
}

async function retractSource({ terminal }: CommandContext, client: Client, options: RetractOptions): Promise<void> {
  const { task, source, reason, evenConfirmed, dryRun, json, rerun } = options;
  if ((task === undefined) === (source === undefined))
    throw inputError({
      what: 'what is to be retracted was not named',
      where: '<fact>',
      remedy: 'name a fact, or one of --task and --source',
    });
  if (rerun)
    throw inputError({
      what: 'all of a source can not be followed by a re-run',
      where: '--rerun',
      remedy: 'see `slate fact impact` of its facts, and `slate task fork`',
    });
  const reply = await client.facts.retractSource({
    ...(task && { taskId: task }),
    ...(source && { sourceRef: source }),
    reason,
    ...(evenConfirmed && { evenConfirmed }),
    ...(dryRun && { dryRun }),
  });
  if (json) return terminal.out(JSON.stringify(reply));
  const { closed, kept, facts, candidates, disputes, revision } = reply;
  terminal.out(
    `${dryRun ? 'would no longer be' : 'no longer'} believed: ${closed.length === 0 ? 'nothing' : `${closed.join(', ')} (${facts} facts)`}`,
  );
  if (kept.length > 0) terminal.out(`stays, because others say it too: ${kept.join(', ')}`);
  if (candidates + disputes > 0) terminal.out(`refused: ${candidates} candidates and ${disputes} challengers of it`);
  terminal.note(`knowledge is at revision ${revision}${dryRun ? '' : '; what rests on them is marked'}`);
}

async function retractOne(
  context: CommandContext,
  client: Client,
  ref: string,
  options: RetractOptions,
): Promise<void> {
  const { out, note } = context.terminal;
  const { from, until, reason, json, rerun } = options;
  const request = {
    ...parseFactRef(ref),
    reason,
    ...(from && { from: parseTime(from, '--from') }),
    ...(until && { until: parseTime(until, '--until') }),
  };
  const reply = await client.facts.retract(request).catch((error: unknown) => {
    // Asked for again, to continue with the re-runs.
    if (rerun && isAppError(error) && error.code === 'NOT_FOUND') return undefined;
    throw error;
  });
  if (json && !rerun) return out(JSON.stringify(reply));
  if (reply) {
    if (!json) out(`no longer believed: ${reply.closed.join(', ')}`);
    if (!json && reply.remaining.length > 0) out(`what stays true of them: ${reply.remaining.join(', ')}`);
    note(`knowledge is at revision ${reply.revision}; what rests on them is marked`);
  }
  if (rerun) await runAgain(context, client, ref, options);
}

/** What would be marked and run again. */
async function preview(
  { terminal }: CommandContext,
  client: Client,
  ref: string,
  { json, rerun }: RetractOptions,
): Promise<void> {
  const { knowledgeId, version } = parseFactRef(ref);
  const { facts, answers = [], more: isCut } = await client.facts.impact(knowledgeId, version);
  const tasks: string[] = [];
  for await (const taskId of eachTask(client, ref)) tasks.push(taskId);
  const more = isCut && tasks.length === answers.length;
  if (json) return terminal.out(JSON.stringify({ facts: facts.map(({ fact }) => fact), tasks, more }));
  terminal.out(`would be marked: ${facts.length} facts and ${tasks.length} answers that rest on ${ref}`);
  if (rerun) for (const taskId of tasks) terminal.out(`would run again: ${taskId}`);
  if (more) terminal.note('there is more: these are the nearest');
}

/** Whose answers rest on it. */
async function* eachTask(client: Client, ref: string): AsyncGenerator<string, void, undefined> {
  const { knowledgeId, version } = parseFactRef(ref);
  for await (const { taskId } of client.facts.eachAnswer(knowledgeId, version)) yield taskId;
}

/**
 * Pinned to the revision of the retraction, which also names the reason of the re-runs: the same command finds them
 * again.
 */
async function runAgain(context: CommandContext, client: Client, ref: string, options: RetractOptions): Promise<void> {
  const { terminal, signal } = context;
  const { rate, inFlight, json } = options;
  const { knowledgeId, version } = parseFactRef(ref);
  const { versions } = await client.facts.history(knowledgeId);
  const closed = versions.filter((each) => version === undefined || each.version === version);
  const revision = Math.max(...closed.map(({ revisionUntil }) => revisionUntil ?? 0));
  if (!Number.isFinite(revision) || revision === 0)
    throw inputError({ what: `${ref} is still believed`, where: '<fact>', remedy: 'retract it first' });
  const key = `retract.${knowledgeId}.${revision}`;
  const reruns = rerunTasks(client, eachTask(client, ref), { key, revision, rate, inFlight, signal });
  let found = false;
  for await (const { from, to, state, problem } of reruns) {
    found = true;
    if (state !== 'completed') context.exitCode = EXIT.taskFailed;
    if (json) terminal.out(JSON.stringify({ from, to, state, problem }));
    else terminal.out(to === null ? `${from} not run again: ${problem}` : `${from} → ${to}  ${state}`);
  }
  if (!found) terminal.note('no answer rests on it: nothing to run again');
}
