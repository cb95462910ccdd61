import type { WatchItem } from '@cleanslate/client';
import type { Terminal } from '../terminal.ts';
import { cutTo } from './table.ts';

/**
 * One line about each item in turn; undefined for what a reader doesn't need. Progress may be lost and travels apart
 * from events: a step's "started" that arrives after its end is left out.
 */
export function describeItems(terminal: Terminal): (item: WatchItem) => string | undefined {
  const shown = new Set<string>();
  return (item) => {
    const key = toAttemptKey(item);
    if (item.kind === 'progress' && item.progress.kind === 'started' && shown.has(key)) return undefined;
    const line = describeItem(item, terminal);
    if (line !== undefined && isOfRun(item)) shown.add(key);
    return line;
  };
}

function toAttemptKey(item: WatchItem): string {
  if (item.kind === 'progress') return `${item.taskId} ${item.stepId} ${item.attempt}`;
  return item.event.name === 'step' ? `${item.taskId} ${item.event.stepId} ${item.event.attempt}` : '';
}

/** Events of a step before it runs don't make its start old news. */
function isOfRun(item: WatchItem): boolean {
  if (item.kind === 'progress') return true;
  return item.event.name === 'step' && item.event.data.to !== 'pending';
}

/** One line about what happened, without its time; undefined for what a reader doesn't need. */
function describeItem(item: WatchItem, terminal: Terminal): string | undefined {
  const { style } = terminal;
  if (item.kind === 'progress') {
    const { kind, message, fraction } = item.progress;
    if (kind === 'ended') return undefined;
    const share = fraction === undefined ? '' : ` ${Math.round(fraction * 100)} %`;
    return `${name(item.stepId)} ${kind === 'started' ? 'started' : `${message ?? 'works'}${share}`}`;
  }
  const { event } = item;
  if (event.name === 'accepted') {
    const { workflow, pin, duplicate, state } = event.data;
    const again = duplicate ? ` again: known already, ${state}` : '';
    return `${name('task')} accepted${again} (${workflow}; knowledge valid at ${pin.validAt}, revision ${pin.revision})`;
  }
  if (event.name === 'refused') return `${name('task')} ${style('red', 'refused')}: ${event.data.error.message}`;
  if (event.name === 'gate') {
    const { stepId, expiresAt } = event.data;
    return `${name('task')} the result of ${stepId} waits for a person until ${expiresAt}: slate task show ${item.taskId}`;
  }
  if (event.name === 'other') return `${name('task')} ${event.type}`;
  const failure = event.data.error ? `: ${cutTo(event.data.error.message, 160)} (${event.data.error.code})` : '';
  const subject = event.name === 'task' ? 'task' : item.event.name === 'step' ? item.event.stepId : '';
  const round = event.name === 'task' && event.data.round > 1 ? `, round ${event.data.round}` : '';
  return `${name(subject)} ${paint(event.data.to, terminal)}${round}${failure}`;
}

export function paint(state: string, { style }: Terminal): string {
  if (state === 'completed') return style('green', state);
  if (state === 'failed') return style('red', state);
  return state === 'pending' ? state : style('cyan', state.replaceAll('_', ' '));
}

function name(subject: string): string {
  return subject.padEnd(14);
}
