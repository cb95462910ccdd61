import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

export function addUnarchive(fact: Command, context: CommandContext): void {
  const command = fact
    .command('unarchive <knowledge-id>')
    .description('believe a fact again that laundering has archived');
  withCommonOptions(command, context);
  withExamples(command, 'slate fact unarchive supplier-portal');
  command.action(async (knowledgeId: string, { tenant, json }: CommonOptions) => {
    const { out, note } = context.terminal;
    await using client = await openClient(context, tenant);
    const reply = await client.facts.unarchive(knowledgeId);
    if (json) return out(JSON.stringify(reply));
    out(`believed again: ${reply.versions.map((version) => `${knowledgeId}@${version}`).join(', ')}`);
    note(`knowledge is at revision ${reply.revision}`);
  });
}
