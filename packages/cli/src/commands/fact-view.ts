import type { FactView } from '@cleanslate/contracts';
import type { CommandContext } from '../context.ts';
import { cutTo, toTable } from '../view/table.ts';

/** One line a version. */
export function printFacts({ terminal }: CommandContext, facts: readonly FactView[]): void {
  const rows = facts.map((view) => [
    `${view.knowledgeId}@${view.version}`,
    view.assertion ? `${view.assertion.value}${view.assertion.unit ? ` ${view.assertion.unit}` : ''}` : '',
    toPeriod(view),
    `${view.revisionFrom}–${view.revisionUntil ?? 'now'}`,
    cutTo(toStatement(view), 70),
  ]);
  for (const line of toTable(['FACT', 'VALUE', 'VALID', 'REVISIONS', 'STATEMENT'], rows)) terminal.out(line);
}

/** What it says, or who erased that, when and why. */
export function toStatement({ statement, redacted }: FactView): string {
  if (redacted === undefined) return statement;
  return `[redacted ${redacted.at.slice(0, 10)} by ${redacted.by}: ${redacted.reason}]`;
}

export function toPeriod({ validFrom, validUntil }: Pick<FactView, 'validFrom' | 'validUntil'>): string {
  return `${validFrom === null ? 'always' : toMoment(validFrom)} – ${validUntil === null ? 'open' : toMoment(validUntil)}`;
}

/** The day if it begins one, otherwise with the time of day: versions of one day would look alike. UTC. */
function toMoment(time: string): string {
  return time.replace(/T00:00(?::00(?:\.0+)?)?Z$/, '').replace(/\.0+Z$/, 'Z');
}

/** What is open about a version: which of its grounds no longer stand, and who says otherwise. */
export function printDoubts({ terminal }: CommandContext, { marks = [], disputes = [] }: FactView): void {
  for (const { cause, kind, since } of marks)
    terminal.out(`  in doubt  rests on ${cause}, which was ${kind} (since revision ${since})`);
  if (disputes.length > 0)
    terminal.out(`  disputed  by ${disputes.join(', ')}: slate fact disputes shows what they say`);
}
