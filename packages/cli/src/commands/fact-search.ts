import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { cutTo } from '../view/table.ts';
import { type PinOptions, toPin, withPin } from './fact-pin.ts';
import { printDoubts, toPeriod } from './fact-view.ts';
import { parsePositive, withCommonOptions, withExamples } from './options.ts';

type SearchOptions = PinOptions & { readonly limit?: number; readonly prefix?: string; readonly tag?: string[] };

export function addSearch(fact: Command, context: CommandContext): void {
  const command = withPin(fact.command('search <question...>').description('find the best facts for a question'))
    .option('--limit <count>', 'at most 50 (default 8)', parsePositive)
    .option('--prefix <text>', 'only ids that begin like this')
    .option('--tag <tag...>', 'only facts with these tags');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate fact search how late may an invoice be paid',
    'slate fact search 付款期限 --valid-at 2024-08-01',
  );
  command.action(async (question: string[], options: SearchOptions) => {
    const { out, note } = context.terminal;
    const { limit, prefix, tag } = options;
    const pin = toPin(options);
    await using client = await openClient(context, options.tenant);
    const found = await client.facts.search({
      query: question.join(' '),
      ...pin,
      ...(limit && { limit }),
      ...(prefix && { prefix }),
      ...(tag && { tags: tag }),
    });
    if (options.json) return out(JSON.stringify(found));
    for (const { fact: view, score } of found.hits) {
      out(`${score.toFixed(3)}  ${view.knowledgeId}@${view.version}  ${cutTo(view.statement, 100)}`);
      out(`       ${toPeriod(view)}  ${view.sourceRef} (${view.sourceType})`);
      printDoubts(context, view);
    }
    const legs = found.space === null ? 'by words alone' : `by words and in ${found.space}`;
    note(
      `${found.hits.length} facts ${legs}; the same again: --valid-at ${found.validAt} --revision ${found.revision}`,
    );
  });
}
