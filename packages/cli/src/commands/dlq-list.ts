import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { cutTo, toTable } from '../view/table.ts';
import { type FilterOptions, toLetterQuery, withFilters } from './dlq-filter.ts';
import {
  type CommonOptions,
  type PageOptions,
  tellNext,
  withCommonOptions,
  withExamples,
  withPage,
} from './options.ts';

type ListOptions = CommonOptions & FilterOptions & PageOptions;

export function addList(dlq: Command, context: CommandContext): void {
  const command = withPage(withFilters(dlq.command('list').description('list dead letters, last failed first')));
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate dlq list --status open --since 1d',
    'slate dlq list --workflow contract-review --reason OUTPUT_CONTRACT --json',
  );
  command.action(async ({ limit, cursor, ...options }: ListOptions) => {
    const { terminal } = context;
    const query = { ...toLetterQuery(options), limit, ...(cursor && { before: cursor }) };
    await using client = await openClient(context, options.tenant);
    const page = await client.deadLetters.list(query);
    if (options.json) return terminal.out(JSON.stringify(page));
    if (page.letters.length === 0) return terminal.note('no dead letters');
    const rows = page.letters.map((letter) => [
      letter.letterId,
      letter.needsHuman && letter.status === 'open' ? 'needs human' : letter.status,
      letter.reason,
      letter.stepId ?? '-',
      letter.lastFailedAt,
      String(letter.replays),
      cutTo(letter.message, 60),
    ]);
    const header = ['LETTER', 'STATUS', 'REASON', 'STEP', 'LAST FAILED', 'REPLAYS', 'MESSAGE'];
    for (const line of toTable(header, rows)) terminal.out(line);
    tellNext(terminal, 'slate dlq list', page.next);
  });
}

export function addShow(dlq: Command, context: CommandContext): void {
  const command = dlq.command('show <letter>').description('show one dead letter: its bytes and its history');
  withCommonOptions(command, context);
  withExamples(command, 'slate dlq show LETTER', 'slate dlq show LETTER --json | jq -r .body | base64 -d');
  command.action(async (letterId: string, { tenant, json }: CommonOptions) => {
    const { out } = context.terminal;
    await using client = await openClient(context, tenant);
    const letter = await client.deadLetters.show(letterId);
    if (json) return out(JSON.stringify(letter));
    const parked = letter.needsHuman ? ', needs human' : '';
    const ended = letter.outcome ? `, ${letter.outcome.replaceAll('_', ' ')}` : '';
    out(`${letter.letterId}  ${letter.status}${ended}${parked}  ${letter.reason}`);
    out(`  error    ${letter.error.code}: ${letter.error.message}`);
    out(`  task     ${letter.taskId ?? '-'}  step ${letter.stepId ?? '-'}  attempt ${letter.attempt ?? '-'}`);
    out(
      `  message  ${letter.subject ?? '-'} (${[letter.stream ?? 'no stream', letter.consumer ?? []].flat().join(', ')})`,
    );
    out(`  failed   first ${letter.firstFailedAt}, last ${letter.lastFailedAt}, replayed ${letter.replays} times`);
    if (letter.replayOf)
      out(`  story    goes on from ${letter.replayOf}; began with ${letter.lineage ?? letter.replayOf}`);
    out(`  bytes    ${preview(letter.body)}`);
    if (letter.edited) out(`  edited   ${preview(letter.edited)}`);
    for (const { at, attempt, what, error } of letter.history)
      out(
        `  ${at}  ${what}${attempt === null ? '' : `, attempt ${attempt}`}${error ? `: ${error.code} ${error.message}` : ''}`,
      );
  });
}

/** Control characters never reach the terminal. */
function preview(base64: string | null): string {
  if (base64 === null) return 'none';
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes
    .subarray(0, 400)
    .toString('utf8')
    .replace(/\p{Cc}/gu, '.');
  return `${bytes.length}: ${cutTo(text, 160)}`;
}
