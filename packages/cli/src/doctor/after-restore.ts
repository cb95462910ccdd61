import { request } from '@cleanslate/bus';
import { findKnown, type RestoreReport, restoreLedger } from '@cleanslate/store';
import { z } from 'zod';
import { findAdminUrl } from '../commands/migrate.ts';
import type { CommandContext } from '../context.ts';
import { openAdminBus } from '../target.ts';
import { readEventStream, type StreamStory } from './read-event-stream.ts';

export type LostTask = { readonly task: string; readonly seen: string; readonly database: string | null };

export type AfterRestore = RestoreReport & {
  readonly commandsPurged: number;
  /** Where EVENTS ends. */
  readonly stream: { readonly epoch: number; readonly position: number; readonly revision: number };
  /** Tasks in EVENTS that the database lacks (`database` null), or has in an earlier state and will continue. */
  readonly tasks: readonly LostTask[];
  /** Fact versions in EVENTS that the database lacks. */
  readonly facts: readonly string[];
};

const Purged = z.object({ purged: z.number().optional() });

/**
 * For a database restored from a backup, with all services stopped: begins a new epoch, ends open claims, derives
 * doorbells again, and lists what the backup did not have yet. Safe to repeat. Throws `CONFIGURATION` while services
 * are connected.
 */
export async function repairAfterRestore(context: CommandContext): Promise<AfterRestore> {
  const adminUrl = await findAdminUrl(context);
  await using bus = await openAdminBus(context);
  const story = await readEventStream(bus);
  const report = await restoreLedger(adminUrl, story);
  const answer = await request(bus, '$JS.API.STREAM.PURGE.COMMANDS', new Uint8Array(), { timeoutMs: 10_000 });
  const { purged = 0 } = Purged.parse(JSON.parse(new TextDecoder().decode(answer)));
  const { epoch, position, revision } = story;
  return {
    ...report,
    commandsPurged: purged,
    stream: { epoch, position, revision },
    ...(await findLost(adminUrl, story)),
  };
}

async function findLost(adminUrl: string, story: StreamStory): Promise<Pick<AfterRestore, 'tasks' | 'facts'>> {
  const known = await findKnown(adminUrl, [...story.tasks.values()], [...story.facts.values()]);
  const tasks = [...story.tasks].flatMap(([task, { state: seen }]) => {
    const database = known.tasks.get(task) ?? null;
    const behind = database === null || (isOver(seen) && !isOver(database));
    return behind ? [{ task, seen, database }] : [];
  });
  return { tasks, facts: [...story.facts.keys()].filter((key) => !known.facts.has(key)) };
}

function isOver(state: string): boolean {
  return state === 'completed' || state === 'failed';
}

export function describeAfterRestore(report: AfterRestore): readonly string[] {
  const { stream, tasks, facts } = report;
  return [
    `ledger    epoch ${report.epoch}; EVENTS ended at epoch ${stream.epoch}, position ${stream.position}`,
    `knowledge goes on after revision ${report.revision}`,
    `claims    ${report.claimsEnded} ended, nothing spent`,
    `commands  ${report.commandsPurged} purged, ${report.doorbellsToRing} doorbells and ${report.settlementsToRepeat} settlements will be said again`,
    ...tasks.map(({ task, seen, database }) =>
      database === null
        ? `lost      task ${task} (${seen}): the backup does not have it; its client must submit it again`
        : `rewound   task ${task} was ${seen}; the backup has it as ${database} and goes on from there`,
    ),
    ...facts.map((fact) => `lost      fact ${fact}`),
    tasks.length + facts.length === 0 ? 'nothing that EVENTS shows is missing' : 'now start the services',
  ];
}
