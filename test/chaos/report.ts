import type { ScriptedPlatform } from '../fixtures/scripted-platform.ts';
import type { Sent } from './load.ts';
import type { MemoryStory } from './memory.ts';

/** What happened, for a person: a chaos run that met nothing proves nothing. */
export async function describeRun(
  { sql, deeds }: ScriptedPlatform,
  sent: readonly Sent[],
  struck: ReadonlyMap<string, number>,
  memory: readonly MemoryStory[],
): Promise<string> {
  const ends = await sql<{ end: string; n: number }>(
    `SELECT coalesce(error->>'code', state) AS end, count(*)::int4 AS n FROM ledger.tasks GROUP BY 1 ORDER BY 1`,
  );
  const [steps] = await sql<{ steps: number; attempts: number; spent: number }>(
    'SELECT count(*)::int4 AS steps, sum(attempt)::int4 AS attempts, sum(spent)::int4 AS spent FROM ledger.steps',
  );
  const refused = await sql<{ code: string; n: number }>(
    'SELECT code, count(*)::int4 AS n FROM ledger.refusals GROUP BY 1 ORDER BY 1',
  );
  const triggers = await sql<{ trigger: string; n: number }>(
    `SELECT trigger, count(*)::int4 AS n FROM ledger.transitions WHERE trigger IN ('lease_expired', 'silent_claim', 'released', 'report_failed', 'claim_granted', 'report_succeeded') GROUP BY 1 ORDER BY 1`,
  );
  const effects = deeds().filter((deed) => deed.what === 'effect');
  const again = effects.length - new Set(effects.map((deed) => deed.key)).size;
  const line = (rows: readonly (readonly [string, number])[]) =>
    rows.map(([what, n]) => `${what} ${n}`).join(', ') || 'none';
  return [
    `tasks: ${sent.length} accepted; ${line(ends.map(({ end, n }) => [end, n]))}`,
    `faults: ${line([...struck].sort(([a], [b]) => (a < b ? -1 : 1)))}`,
    `steps: ${steps?.steps}, attempts ${steps?.attempts}, spent ${steps?.spent}; ${line(triggers.map(({ trigger, n }) => [trigger, n]))}`,
    `runs whose result was refused or repeated: ${line(refused.map(({ code, n }) => [code, n]))}; handlers that ran a step again: ${again}`,
    ...memory.map(
      ({ name, minutes, startMb, endMb, rssStartMb, rssEndMb, sockets }) =>
        `memory: ${name}, ${minutes} min: live ${startMb} → ${endMb} MB, resident ${rssStartMb} → ${rssEndMb} MB, ${sockets} sockets`,
    ),
  ].join('\n');
}
