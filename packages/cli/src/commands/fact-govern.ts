import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { cutTo } from '../view/table.ts';
import { type CommonOptions, parsePositive, withCommonOptions, withExamples } from './options.ts';

type DisputesOptions = CommonOptions & { readonly all?: boolean; readonly limit?: number };

export function addDisputes(fact: Command, context: CommandContext): void {
  const command = fact
    .command('disputes [knowledge-id]')
    .description('list statements that contradict a fact and await a decision')
    .option('--all', 'settled ones too')
    .option('--limit <count>', 'at most 500 (default 100)', parsePositive);
  withCommonOptions(command, context);
  withExamples(command, 'slate fact disputes');
  command.action(async (knowledgeId: string | undefined, { tenant, json, all, limit }: DisputesOptions) => {
    const { out, note } = context.terminal;
    await using client = await openClient(context, tenant);
    const found = await client.facts.disputes({
      ...(knowledgeId && { knowledgeId }),
      ...(all && { all }),
      ...(limit && { limit }),
    });
    if (json) return out(JSON.stringify(found));
    if (found.disputes.length === 0) return note('no disputes are open');
    for (const { disputeId, challenger, reason, resolution, ...dispute } of found.disputes) {
      const said =
        'statement' in challenger ? challenger.statement : challenger.periods.map((one) => one.statement).join(' / ');
      out(`${disputeId}  ${dispute.knowledgeId}@${dispute.incumbentVersion} is contradicted: ${cutTo(said, 100)}`);
      out(`   ${dispute.openedAt.slice(0, 10)}  ${reason}${resolution === null ? '' : `; settled for ${resolution}`}`);
    }
    note('decide with: slate fact resolve <dispute> --keep incumbent | challenger | neither');
  });
}

type ResolveOptions = CommonOptions & {
  readonly keep: 'incumbent' | 'challenger' | 'neither';
  readonly reason?: string;
};

export function addResolve(fact: Command, context: CommandContext): void {
  const command = fact
    .command('resolve')
    .argument('<dispute>', 'its number, as `slate fact disputes` shows it', parsePositive)
    .description('decide a dispute; what is turned down is not raised again')
    .addOption(
      new Option('--keep <side>', 'who is right').choices(['incumbent', 'challenger', 'neither']).makeOptionMandatory(),
    )
    .option('--reason <text>', 'kept in the audit');
  withCommonOptions(command, context);
  withExamples(command, 'slate fact resolve 17 --keep challenger --reason "confirmed by legal"');
  command.action(async (disputeId: number, options: ResolveOptions) => {
    const { out, note } = context.terminal;
    const { keep, reason } = options;
    await using client = await openClient(context, options.tenant);
    const reply = await client.facts.resolve({ disputeId, keep, ...(reason && { reason }) });
    if (options.json) return out(JSON.stringify(reply));
    const now = reply.versions.map((version) => `${reply.knowledgeId}@${version}`).join(', ');
    out(`dispute ${disputeId} is settled for ${reply.resolution}${now === '' ? '' : `: ${now}`}`);
    note(`knowledge is at revision ${reply.revision}`);
  });
}
