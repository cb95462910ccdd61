import type { EventCounts } from '@cleanslate/store';
import type { Top } from '../commands/top.ts';
import type { Terminal } from '../terminal.ts';
import { formatDuration } from './duration.ts';
import { toTable } from './table.ts';

/** One look as a screen; `over` draws it over the one before, if stdout is a terminal. */
export function drawTop(terminal: Terminal, top: Top, over: boolean): void {
  if (over) terminal.clear();
  const { out, style } = terminal;
  const rate = (name: keyof EventCounts) => `${name} ${top.rates === null ? '…' : `${top.rates[name]}/s`}`;
  out(
    `${style('bold', 'slate top')}  ${top.at.slice(11, 19)} UTC   ${rate('accepted')}   ${rate('completed')}   ${rate('failed')}   ${rate('steps')}`,
  );
  out(
    `dead letters ${flag(terminal, top.openLetters)}   nothing moves ${flag(terminal, top.unaccounted)}   outbox ${top.outbox}`,
  );
  out();
  const roles = top.roles.map((role) => [
    role.role,
    String(role.ready),
    role.oldestSeconds === null ? '-' : formatDuration(role.oldestSeconds * 1_000),
    String(role.dispatched),
    String(role.executing),
    String(role.backingOff),
    role.workers === 0 ? style(role.ready + role.dispatched > 0 ? 'red' : 'dim', 'none') : String(role.workers),
    `${role.slots - role.free}/${role.slots}`,
  ]);
  print(terminal, ['ROLE', 'READY', 'OLDEST', 'RUNG', 'RUNNING', 'BACK-OFF', 'WORKERS', 'SLOTS'], roles);
  if (top.tenants.length > 0) {
    const rows = top.tenants.map((each) => [each.tenantId, String(each.ready), String(each.inFlight)]);
    print(terminal, ['TENANT', 'READY', 'IN FLIGHT'], rows);
  }
  if (top.queues === null) return out(style('yellow', 'the broker can’t be asked'));
  const queues = top.queues.map((each) => [
    each.stream,
    each.consumer,
    String(each.pending),
    String(each.unacknowledged),
    String(each.redelivered),
  ]);
  print(terminal, ['STREAM', 'DURABLE', 'PENDING', 'UNACKED', 'REDELIVERED'], queues);
}

function print({ out, style }: Terminal, header: readonly string[], rows: readonly (readonly string[])[]): void {
  const [head, ...lines] = toTable(header, rows);
  out(style('dim', head ?? ''));
  for (const line of lines) out(line);
  out();
}

function flag({ style }: Terminal, count: number): string {
  return count === 0 ? '0' : style('red', String(count));
}
