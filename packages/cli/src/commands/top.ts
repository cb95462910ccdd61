import { setTimeout as sleep } from 'node:timers/promises';
import {
  countEvents,
  type Database,
  type EventCounts,
  type Overview,
  openDatabase,
  readOverview,
} from '@cleanslate/store';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { reach } from '../reach-database.ts';
import { openAdminBus } from '../target.ts';
import { parseDuration } from '../view/duration.ts';
import { drawTop } from '../view/top.ts';
import { findAdminUrl } from './migrate.ts';
import { withExamples } from './options.ts';
import { type QueueLoad, readBrokerQueues } from './top-queues.ts';

/** What `slate top` shows, and prints with `--json`. */
export type Top = Overview & {
  readonly at: string;
  /** Between the two looks, per second; null at the first look, which has no predecessor. */
  readonly rates: EventCounts | null;
  /** Null: the broker can't be asked. */
  readonly queues: readonly QueueLoad[] | null;
};

type TopOptions = { readonly once?: boolean; readonly every: string; readonly json?: boolean };

export function addTop(program: Command, context: CommandContext): void {
  const command = program
    .command('top')
    .description('live view for operators: queues, workers, rates and the longest waits of all tenants')
    .option('--once', 'look once, then end')
    .option('--every <duration>', 'how often to look; rates are over this span', '2s')
    .option('--json', 'print one JSON document per look');
  withExamples(
    command,
    'slate top',
    'slate top --once',
    "slate top --once --json | jq '.roles[] | select(.oldestSeconds > 60)'",
  );
  command.action(async ({ once, every, json }: TopOptions) => {
    const spanMs = Math.max(200, parseDuration(every, '--every'));
    const { terminal, signal } = context;
    await using database = openDatabase({
      url: await findAdminUrl(context),
      applicationName: 'slate-top',
      poolSize: 3,
    });
    await using broker = await openBroker(context);
    const show = async (overview: Overview, rates: EventCounts | null) => {
      const top: Top = { at: new Date().toISOString(), ...overview, rates, queues: await broker.read() };
      if (json) terminal.out(JSON.stringify(top));
      else drawTop(terminal, top, once !== true);
    };
    let before = await look(database);
    // Rates need a second look; everything else is known.
    if (once || json) terminal.status(`looking again in ${every}`);
    else await show(before.overview, null);
    for (;;) {
      await sleep(spanMs, undefined, { signal });
      const now = await look(database);
      const counts = await reach(countEvents(database, before.overview.position, now.overview.position));
      const seconds = (now.at - before.at) / 1_000;
      await show(now.overview, perSecond(counts, seconds));
      if (once) return;
      before = now;
    }
  });
}

async function look(database: Database): Promise<{ readonly overview: Overview; readonly at: number }> {
  const overview = await reach(readOverview(database));
  return { overview, at: performance.now() };
}

/** With the broker away the ledger still knows most of it. */
async function openBroker(context: CommandContext) {
  const bus = await openAdminBus(context).catch(() => undefined);
  return {
    read: async () => (bus === undefined ? null : await readBrokerQueues(bus).catch(() => null)),
    [Symbol.asyncDispose]: async () => {
      await bus?.close();
    },
  };
}

function perSecond(counts: EventCounts, seconds: number): EventCounts {
  const rate = (count: number) => Math.round((count / seconds) * 10) / 10;
  const { accepted, completed, failed, steps } = counts;
  return { accepted: rate(accepted), completed: rate(completed), failed: rate(failed), steps: rate(steps) };
}
