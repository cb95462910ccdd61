/**
 * How right the knowledge base is on real data, through its real services.
 *
 *     npm run truth -- FOLDER [--only laws | reading | decisions]
 *
 * FOLDER holds sub-folders of JSON or JSON lines, under any file names: `zh-laws`, `contradictions`, `fact-updates`,
 * `zh-reading`; what is absent is left out, and what is not known is said. One line a measure; exit code 1 where one
 * misses its target, 2 where there is nothing to measure or a row can't be read.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '@cleanslate/infra';
import { startPlatform } from '@cleanslate/testing';
import { hasLaws, measureLaws } from './truth/laws.ts';
import { type Measure, UnreadableData } from './truth/measure.ts';
import { hasReading, measureReading } from './truth/reading.ts';
import { measureSameness } from './truth/sameness.ts';
import { measureUpdates } from './truth/updates.ts';

const USAGE = 'usage: npm run truth -- FOLDER [--only laws | reading | decisions]';
const KNOWN = ['zh-laws', 'contradictions', 'fact-updates', 'zh-reading'];
const PARTS = ['laws', 'reading', 'decisions'];

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

function readArguments(): { folder: string; wanted: (part: string) => boolean } {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } });
  const { only } = values;
  const [given, ...others] = positionals;
  if (given === undefined || others.length > 0) fail(USAGE);
  if (only !== undefined && !PARTS.includes(only)) fail(`--only ${only}: write one of ${PARTS.join(', ')}`);
  const folder = resolve(given);
  if (!existsSync(folder)) fail(`${folder} does not exist: name the folder that holds ${KNOWN.join(', ')}`);
  return { folder, wanted: (part) => only === undefined || only === part };
}

/** Says what is measured and what is not. */
function look(folder: string): void {
  const found = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = found.map(({ name }) => name);
  for (const name of names) {
    if (name === 'contracts') console.log(`        ${name}: npm run truth:contracts -- ${join(folder, name)}`);
    else if (!KNOWN.includes(name)) console.log(`        ${name}: nothing here measures it`);
  }
  const missing = KNOWN.filter((name) => !names.includes(name));
  if (missing.length > 0) console.log(`        not there, left out: ${missing.join(', ')}`);
  if (missing.length === KNOWN.length) fail(`${folder} holds none of ${KNOWN.join(', ')}: there is nothing to measure`);
}

function print({ name, value, target, met }: Measure): void {
  const word = met === false ? 'MISSED ' : met === true ? 'ok     ' : '       ';
  console.log(`${word} ${name.padEnd(74)} ${value}${target === undefined ? '' : `  (target ${target})`}`);
  if (met === false) process.exitCode = 1;
}

async function measureServices(folder: string, laws: boolean, reading: boolean): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'cleanslate-truth-'));
  try {
    await using postgres = await startPostgres({ dir, durable: false });
    await using platform = await startPlatform({
      postgresAdminUrl: postgres.adminUrl,
      services: ['knowledge-maintainer', 'gateway'],
      env: { LOG_LEVEL: 'warn' },
    });
    await using first = await platform.client('acme');
    if (laws) for await (const measure of measureLaws(folder, first)) print(measure);
    await using second = await platform.client('globex');
    if (reading) for await (const measure of measureReading(folder, second)) print(measure);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const { folder, wanted } = readArguments();
look(folder);
try {
  if (wanted('decisions'))
    for (const measure of [...measureSameness(folder), ...measureUpdates(folder)]) print(measure);
  const [laws, reading] = [wanted('laws') && hasLaws(folder), wanted('reading') && hasReading(folder)];
  if (laws || reading) await measureServices(folder, laws, reading);
} catch (error) {
  if (!(error instanceof UnreadableData)) throw error;
  fail(error.message);
}
