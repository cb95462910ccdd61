import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { cutTo, toTable } from '../view/table.ts';
import {
  type CommonOptions,
  type PageOptions,
  parsePositive,
  tellNext,
  withCommonOptions,
  withExamples,
  withPage,
} from './options.ts';
import { toPerson, withPerson } from './person.ts';

type ListOptions = CommonOptions & PageOptions & { readonly all?: boolean };

export function addReviews(fact: Command, context: CommandContext): void {
  const command = fact
    .command('reviews [knowledge-id]')
    .description('list facts behind answers that somebody called wrong (slate task feedback), newest first')
    .option('--all', 'closed ones and versions that are no longer believed too');
  withPage(command);
  withCommonOptions(command, context);
  withExamples(command, 'slate fact reviews', 'slate fact reviews payment-term-max-days --all --json');
  command.action(async (knowledgeId: string | undefined, { all, limit, cursor, tenant, json }: ListOptions) => {
    const { terminal } = context;
    await using client = await openClient(context, tenant);
    const page = await client.facts.reviews({
      limit,
      ...(knowledgeId && { knowledgeId }),
      ...(all && { all }),
      ...(cursor && { before: cursor }),
    });
    if (json) return terminal.out(JSON.stringify(page));
    if (page.reviews.length === 0) return terminal.note('nothing is under review');
    const rows = page.reviews.map((each) => [
      String(each.reviewId),
      each.fact,
      `${each.wrong} wrong, ${each.right} right`,
      String(each.weight),
      each.state,
      cutTo(each.statement, 50),
    ]);
    for (const line of toTable(['REVIEW', 'FACT', 'PEOPLE SAY', 'WEIGHT', 'STATE', 'STATEMENT'], rows))
      terminal.out(line);
    for (const { reviewId, said } of page.reviews)
      for (const { by, verdict, note, taskId } of said)
        if (note !== null) terminal.out(`  ${reviewId}  ${by}, ${verdict}: ${cutTo(note, 100)} (task ${taskId})`);
    terminal.note(
      'it stays: slate fact review REVIEW --reason WHY; it does not: slate fact retract FACT, or state the right one',
    );
    tellNext(terminal, 'slate fact reviews', page.next);
  });
}

type ReviewOptions = CommonOptions & {
  readonly reason: string;
  readonly restoreWeight?: boolean;
  readonly by?: string;
};

export function addReview(fact: Command, context: CommandContext): void {
  const command = withPerson(
    fact
      .command('review')
      .argument('<review>', 'its number, as `slate fact reviews` shows it', parsePositive)
      .description('close a review: the fact was checked and stays'),
  )
    .requiredOption('--reason <text>', 'why; kept')
    .option('--restore-weight', 'feedback given so far no longer counts');
  withCommonOptions(command, context);
  withExamples(command, 'slate fact review 5 --reason "still in force, the appendix was misread" --restore-weight');
  command.action(async (reviewId: number, options: ReviewOptions) => {
    const { reason, restoreWeight, tenant, json } = options;
    await using client = await openClient(context, tenant);
    const by = toPerson(context, options);
    const reply = await client.facts.closeReview({ reviewId, by, reason, ...(restoreWeight && { restoreWeight }) });
    if (json) return context.terminal.out(JSON.stringify(reply));
    context.terminal.out(`review ${reviewId} is closed: ${reply.fact} stays, with weight ${reply.weight}`);
  });
}
