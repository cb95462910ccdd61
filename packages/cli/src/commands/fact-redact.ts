import { setTimeout } from 'node:timers/promises';
import type { Client } from '@cleanslate/client';
import type { RedactionView } from '@cleanslate/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { cutTo, toTable } from '../view/table.ts';
import { parseFactRef } from './fact-ref.ts';
import {
  type CommonOptions,
  type PageOptions,
  tellNext,
  withCommonOptions,
  withExamples,
  withPage,
} from './options.ts';
import { toPerson, withPerson } from './person.ts';

type RedactOptions = CommonOptions & {
  readonly reason: string;
  readonly by?: string;
  readonly also?: readonly string[];
  readonly yes?: boolean;
  readonly wait?: boolean;
};

const LOOK_MS = 500;

export function addRedact(fact: Command, context: CommandContext): void {
  const command = withPerson(
    fact
      .command('redact <fact>')
      .description(
        'erase what a fact (or one version and those that say the same) says, wherever it is kept; a tombstone remains',
      ),
  )
    .requiredOption('--reason <text>', 'why; stays on the tombstone')
    .option('--also <text...>', 'other wordings to erase from what tasks left behind')
    .option('--yes', 'really erase; without it, only show what would be erased')
    .option('--wait', 'return when everything is erased');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate fact redact salary-of-ann --reason "asked for on 3 March, ticket 811"',
    'slate fact redact salary-of-ann@2 --reason "ticket 811" --also "Ann earns thirty thousand" --yes --wait',
  );
  command.addHelpText('after', NOT_COVERED);
  command.action(async (ref: string, options: RedactOptions) => {
    const { out, note } = context.terminal;
    const { reason, also, yes, json } = options;
    const request = { ...parseFactRef(ref), reason, by: toPerson(context, options), ...(also && { also: [...also] }) };
    await using client = await openClient(context, options.tenant);
    const reply = await client.facts.redact({ ...request, ...(yes ? {} : { dryRun: true }) });
    if (!yes) {
      out(json ? JSON.stringify({ ...reply, dryRun: true }) : `would erase ${describe(reply)}`);
      return note('nothing was erased; with --yes it is, and that can not be undone');
    }
    const { redactionId } = reply;
    const end = options.wait && redactionId !== null ? await untilErased(client, redactionId, context) : undefined;
    if (json) return out(JSON.stringify({ ...reply, dryRun: false, ...(end && { redaction: end }) }));
    out(`redaction ${redactionId}: ${describe(reply)}`);
    if (reply.elsewhere.length > 0) note(`the same is said by ${reply.elsewhere.join(', ')}: redact them too`);
    if (end) showOne(context, end);
    else note('from facts it is gone; `slate fact redactions` tells when tasks, objects and streams are free of it');
  });
}

const NOT_COVERED = `
Not covered: backups and the write-ahead log until they expire, free space in database and broker files until it is overwritten,
copies that people made, and the id of the fact.`;

function describe({ versions, candidates, disputes }: Awaited<ReturnType<Client['facts']['redact']>>): string {
  return `${versions.join(', ')}; ${candidates} candidates and ${disputes} disputes that say it`;
}

async function untilErased(
  client: Client,
  redactionId: number,
  { terminal, signal }: CommandContext,
): Promise<RedactionView> {
  for (;;) {
    const { redactions } = await client.facts.redactions({ before: String(redactionId + 1), limit: 1 });
    const [found] = redactions;
    if (found?.redactionId === redactionId && found.state === 'erased') return found;
    if (found) terminal.status(found.state === 'waiting' ? `waits for ${found.waitsFor.join(', ')}` : 'erasing');
    await setTimeout(LOOK_MS, undefined, { signal });
  }
}

function showOne({ terminal }: CommandContext, { state, erased, waitsFor }: RedactionView): void {
  const { rows, objects, messages, tasks } = erased;
  terminal.out(`  ${state}: ${rows} rows of ${tasks.length} tasks, ${objects} objects, ${messages} messages`);
  if (waitsFor.length > 0) terminal.out(`  waits for attempts that began before: ${waitsFor.join(', ')}`);
}

type ListOptions = CommonOptions & PageOptions & { readonly open?: boolean };

export function addRedactions(fact: Command, context: CommandContext): void {
  const command = fact
    .command('redactions [knowledge-id]')
    .description('list redactions, newest first, and how far each is')
    .option('--open', 'only those that are not confirmed yet');
  withPage(command);
  withCommonOptions(command, context);
  withExamples(command, 'slate fact redactions --open', 'slate fact redactions salary-of-ann --json');
  command.action(async (knowledgeId: string | undefined, { open, limit, cursor, tenant, json }: ListOptions) => {
    const { terminal } = context;
    await using client = await openClient(context, tenant);
    const page = await client.facts.redactions({
      limit,
      ...(knowledgeId && { knowledgeId }),
      ...(open && { open }),
      ...(cursor && { before: cursor }),
    });
    if (json) return terminal.out(JSON.stringify(page));
    if (page.redactions.length === 0) return terminal.note(open ? 'none is open' : 'nothing was redacted');
    const rows = page.redactions.map((each) => [
      String(each.redactionId),
      each.versions.join(', '),
      each.state,
      `${each.erased.rows} rows, ${each.erased.objects} objects, ${each.erased.messages} messages`,
      each.at.slice(0, 16),
      each.by,
      cutTo(each.reason, 50),
    ]);
    for (const line of toTable(['NUMBER', 'VERSIONS', 'STATE', 'ERASED BESIDE', 'AT', 'BY', 'WHY'], rows))
      terminal.out(line);
    for (const { redactionId, waitsFor } of page.redactions)
      if (waitsFor.length > 0)
        terminal.note(`${redactionId} waits for attempts that began before: ${waitsFor.join(', ')}`);
    tellNext(terminal, 'slate fact redactions', page.next);
  });
}
