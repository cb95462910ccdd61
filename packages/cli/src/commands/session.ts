import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { openClient } from '../target.ts';
import { toTable } from '../view/table.ts';
import {
  type CommonOptions,
  type PageOptions,
  tellNext,
  withCommonOptions,
  withExamples,
  withPage,
} from './options.ts';

export function addSession(program: Command, context: CommandContext): void {
  const session = program
    .command('session')
    .description('short-lived memory of agents: what was said in a conversation');
  addList(session, context);
  addShow(session, context);
  addReset(session, context);
}

function addList(session: Command, context: CommandContext): void {
  const command = withPage(session.command('list').description('sessions that have not expired, by name'));
  withCommonOptions(command, context);
  withExamples(command, 'slate session list', 'slate session list --json');
  command.action(async ({ limit, cursor, tenant, json }: CommonOptions & PageOptions) => {
    const { out, note } = context.terminal;
    await using client = await openClient(context, tenant);
    const page = await client.sessions.list({ limit, ...(cursor && { after: cursor }) });
    if (json) return out(JSON.stringify(page));
    if (page.sessions.length === 0) return note('no sessions');
    const rows = page.sessions.map(({ sessionId, items, bytes, lastAt, expiresAt }) => [
      sessionId,
      String(items),
      String(bytes),
      lastAt ?? '-',
      expiresAt,
    ]);
    for (const line of toTable(['SESSION', 'ITEMS', 'BYTES', 'LAST', 'EXPIRES'], rows)) out(line);
    tellNext(context.terminal, 'slate session list', page.next);
  });
}

function addShow(session: Command, context: CommandContext): void {
  const command = session.command('show <session>').description('show everything a session holds, oldest first');
  withCommonOptions(command, context);
  withExamples(command, 'slate session show chat-7', 'slate session show chat-7 --json');
  command.action(async (sessionId: string, { tenant, json }: CommonOptions) => {
    const { out, style } = context.terminal;
    await using client = await openClient(context, tenant);
    const found = await client.sessions.show(sessionId);
    if (json) return out(JSON.stringify(found));
    const forgotten = found.forgotten === 0 ? '' : `, ${found.forgotten} older ones fell out`;
    out(`session ${sessionId}: ${found.items.length} items${forgotten}, expires ${found.expiresAt}`);
    for (const { n, from, text, taskId, shown } of found.items) {
      out('');
      out(
        style(
          'dim',
          `#${n} ${from}, task ${taskId}${shown ? '' : ': not shown to other tasks, its own has not completed'}`,
        ),
      );
      out(text);
    }
  });
}

function addReset(session: Command, context: CommandContext): void {
  const command = session
    .command('reset <session>')
    .description('forget a session; tasks accepted earlier bring nothing back');
  withCommonOptions(command, context);
  withExamples(command, 'slate session reset chat-7');
  command.action(async (sessionId: string, { tenant, json }: CommonOptions) => {
    await using client = await openClient(context, tenant);
    const answer = await client.sessions.reset(sessionId);
    if (json) return context.terminal.out(JSON.stringify(answer));
    context.terminal.out(`session ${sessionId}  ${answer.removed} items forgotten`);
  });
}
