import type { Client } from '@cleanslate/client';
import { DeadLetterSummary, ERROR_CODES, ErrorBody } from '@cleanslate/contracts';
import { type Command, Option } from 'commander';
import { inputError } from '../input-error.ts';
import { parseDuration } from '../view/duration.ts';
import { parseTime } from '../view/time.ts';

export type FilterOptions = {
  readonly reason?: string;
  readonly role?: string;
  readonly workflow?: string;
  readonly task?: string;
  readonly status?: DeadLetterSummary['status'];
  readonly since?: string;
  readonly olderThan?: string;
  readonly needsHuman?: boolean;
};

export type LetterQuery = NonNullable<Parameters<Client['deadLetters']['list']>[0]>;

/** The filters that every command over letters takes. */
export function withFilters(command: Command): Command {
  return command
    .option('--reason <code>', 'such as ATTEMPTS_EXHAUSTED or UNPARSEABLE')
    .option('--role <role>', 'only of this role')
    .option('--workflow <workflow>', 'only of this workflow')
    .option('--task <task>', 'only of this task')
    .addOption(new Option('--status <status>', 'only in this state').choices(DeadLetterSummary.shape.status.options))
    .option('--since <time>', 'last failed then or later: a time, or how long ago (90s, 10m, 2h, 1d)')
    .option('--older-than <time>', 'last failed before: a time, or how long ago')
    .option('--needs-human', 'only parked ones: bulk replays of them failed three times');
}

export function toLetterQuery(options: FilterOptions, now = Date.now()): LetterQuery {
  const { reason, role, workflow, task, status, since, olderThan, needsHuman } = options;
  return {
    ...(reason && { reason: toReason(reason) }),
    ...(role && { role }),
    ...(workflow && { workflow }),
    ...(task && { taskId: task }),
    ...(status && { status }),
    ...(since && { since: toMoment(since, '--since', now) }),
    ...(olderThan && { until: toMoment(olderThan, '--older-than', now) }),
    ...(needsHuman && { needsHuman }),
  };
}

/** Neither a letter nor a filter is most likely a slip: "everything" must be explicit. */
export function assertChosen(letterId: string | undefined, query: LetterQuery, all: boolean | undefined): void {
  const filtered = Object.keys(query).length > 0;
  if (letterId !== undefined && (filtered || all)) {
    throw inputError({
      what: 'one letter and a filter',
      where: '<letter>',
      remedy: 'give either the letter or a filter',
    });
  }
  if (letterId === undefined && !filtered && all !== true)
    throw inputError({ what: 'no letter and no filter', where: '<letter>', remedy: 'name one, a filter, or --all' });
}

/**
 * Every letter of the filter, the oldest failure first: related letters are replayed in the order in which they failed.
 */
export async function collectLetters(client: Client, query: LetterQuery): Promise<readonly DeadLetterSummary[]> {
  const letters: DeadLetterSummary[] = [];
  for (let before: string | undefined; ; ) {
    const page = await client.deadLetters.list({ ...query, limit: 500, ...(before === undefined ? {} : { before }) });
    letters.push(...page.letters);
    if (page.next === null) return letters.reverse();
    before = page.next;
  }
}

/** Executors have codes of their own: only what can't be a code is refused. */
function toReason(reason: string): string {
  if (ErrorBody.shape.code.safeParse(reason).success) return reason;
  throw inputError({
    what: `"${reason}" is no reason`,
    where: '--reason',
    remedy: `write one of ${Object.keys(ERROR_CODES).join(', ')}, or a code that an executor of yours reports`,
  });
}

function toMoment(text: string, where: string, now: number): string {
  if (/^[0-9.]+(ms|s|m|h|d)$/.test(text)) return new Date(now - parseDuration(text, where)).toISOString();
  return parseTime(text, where, 'how long ago (90s, 10m, 2h, 1d), ');
}
