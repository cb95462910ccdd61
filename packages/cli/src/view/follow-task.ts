import { type Client, isTerminal, taskStateAfter } from '@cleanslate/client';
import type { Cursor, TaskView } from '@cleanslate/contracts';
import type { Terminal } from '../terminal.ts';
import { describeItems } from './describe-item.ts';

export type FollowTaskOptions = {
  readonly taskId: string;
  readonly after?: Cursor | undefined;
  readonly signal: AbortSignal;
  /** `lines`: for people, on stderr. `json`: one JSON line per item on stdout. `silent`: nothing. */
  readonly show: 'lines' | 'json' | 'silent';
};

/** Shows what happens to a task until it ends, and returns it. Throws the signal's reason if interrupted. */
export async function followTask(client: Client, terminal: Terminal, options: FollowTaskOptions): Promise<TaskView> {
  const { taskId, signal } = options;
  let began: number | undefined;
  const describe = describeItems(terminal);
  const onTrouble = (error: Error) => terminal.note(`  … ${error.message}; it goes on by itself`);
  for await (const item of client.watch({ taskId, after: options.after, signal, onTrouble })) {
    if (options.show === 'json') terminal.out(JSON.stringify(item));
    if (options.show !== 'lines') continue;
    const at = Date.parse(item.kind === 'event' ? item.envelope.time : item.progress.at);
    began ??= at;
    const line = describe(item);
    const running = item.kind === 'event' && !isTerminal(taskStateAfter(item.event));
    if (line !== undefined) terminal.note(`${((at - began) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
    if (running) terminal.status('          …');
  }
  signal.throwIfAborted();
  return await client.task(taskId);
}
