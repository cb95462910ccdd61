/**
 * How right the contract review's clause extraction is on hand-labelled contracts.
 *
 *     npm run truth:contracts -- FOLDER [--show] [--part seen|unseen] [--json]
 *
 * FOLDER holds text files and `labels.json`:
 * `{ files: { NAME: { clauses: { KIND: { present, spans, value, unit, normalized } } } } }`, offsets in UTF-16
 * code units. `--show` prints every disagreement, and what was found in the files without labels. `--part`
 * looks at one part of a split by the hash of the file's name: rules are written on `seen` (two thirds), and
 * `unseen` is read by its totals only.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CLAUSE_KINDS, type Clause, type ClauseKind, extractClauses } from '@cleanslate/workflows';
import { emptyTally, type Label, pool, score, type Tally, unitOf } from './truth-score.ts';

const USAGE = 'usage: npm run truth:contracts -- FOLDER [--show] [--part seen|unseen] [--json]';

type Labels = { files: Record<string, { clauses: Partial<Record<ClauseKind, Label>> }> };

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}

function partOf(name: string): 'seen' | 'unseen' {
  return BigInt(`0x${createHash('sha256').update(name).digest('hex')}`) % 3n === 0n ? 'unseen' : 'seen';
}

function describe(clause: Clause): string {
  if (!clause.present) return 'absent';
  const quote = clause.quote.replace(/\s+/g, ' ').slice(0, 260);
  const reading = [clause.value ?? clause.basis, unitOf(clause), clause.choice].filter((part) => part !== null);
  return `${reading.join(' ')} (${clause.confidence}) @${clause.span.start} «${quote}» +${clause.supporting.length}`;
}

function ratio(part: number, whole: number): string {
  return whole === 0 ? '   –  ' : `${((100 * part) / whole).toFixed(1).padStart(5)}%`;
}

function row(kind: string, t: Tally): string {
  const precision = ratio(t.truePositive, t.truePositive + t.falsePositive);
  const recall = ratio(t.truePositive, t.truePositive + t.falseNegative);
  const value = `${ratio(t.valueRight, t.valueRight + t.valueWrong)} ${`${t.valueRight}/${t.valueWrong}`.padEnd(9)}`;
  const counts = [t.truePositive, t.falsePositive, t.falseNegative, t.trueNegative].join(' ');
  return `${kind.padEnd(24)} ${precision}  ${recall}  ${ratio(t.spanHit, t.truePositive)}  ${value} ${counts}`;
}

function readLabels(folder: string): Labels {
  try {
    return JSON.parse(readFileSync(join(folder, 'labels.json'), 'utf8'));
  } catch (error) {
    throw new Error(`${join(folder, 'labels.json')} can't be read: ${error instanceof Error ? error.message : error}`);
  }
}

function main(): void {
  const { values, positionals } = parseArgs({
    options: { show: { type: 'boolean', default: false }, part: { type: 'string' }, json: { type: 'boolean' } },
    allowPositionals: true,
  });
  const [folder] = positionals;
  const { part } = values;
  if (folder === undefined || (part !== undefined && part !== 'seen' && part !== 'unseen')) throw new Error(USAGE);
  const labels = readLabels(folder);
  const tallies = new Map(CLAUSE_KINDS.map((kind) => [kind, emptyTally()]));
  const names = readdirSync(folder).filter((name) => /\.(?:txt|md)$/.test(name) && name !== 'README.md');
  const files = names.filter((name) => part === undefined || partOf(name) === part);
  const startedAt = performance.now();
  for (const name of files) {
    for (const clause of extractClauses(decode(readFileSync(join(folder, name))))) {
      const label = labels.files[name]?.clauses[clause.kind];
      const tally = tallies.get(clause.kind);
      const agrees = label === undefined || tally === undefined ? null : score(tally, label, clause);
      if (!values.show || agrees === true || (agrees === null && !clause.present)) continue;
      console.log(`${agrees === false ? 'WRONG' : 'found'} ${name} ${clause.kind}: ${describe(clause)}`);
      if (label !== undefined)
        console.log(`      label: ${label.present ? `${label.value} ${label.unit} ${label.normalized}` : 'absent'}`);
    }
  }
  const pooled = pool([...tallies.values()]);
  if (values.json === true) {
    console.log(JSON.stringify({ part: part ?? 'all', kinds: Object.fromEntries(tallies), pooled }));
    return;
  }
  console.log('\nkind                    precision  recall   span    value  right/wrong  tp fp fn tn');
  for (const [kind, tally] of tallies) console.log(row(kind, tally));
  console.log(row('pooled', pooled));
  const labelled = files.filter((name) => labels.files[name] !== undefined).length;
  const took = Math.round(performance.now() - startedAt);
  console.log(`${files.length} files (${part ?? 'all'}), ${labelled} labelled, ${took} ms`);
}

try {
  main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
