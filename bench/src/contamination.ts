/**
 * What each level of the sanitizer keeps away from the agents: contract reviews one after the other, through real
 * processes, on a base full of what must not be used.
 *
 *     npm run bench:contamination [-- --reviews 200] [--levels off,full] [--json]
 *
 * Exit code 1 where `full` misses its target. What is in the base and what a level switches: README.md.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SANITIZE_LEVELS } from '@cleanslate/domain';
import { startPostgres } from '@cleanslate/infra';
import { type LevelStories, runLevels } from './contamination/run-levels.ts';

const USAGE = 'usage: npm run bench:contamination [-- --reviews N] [--levels off,expiry,versions,full] [--json]';
const MAX_REVIEWS = 10_000;
const { values } = parseArgs({
  options: {
    reviews: { type: 'string', default: '200' },
    levels: { type: 'string', default: SANITIZE_LEVELS.join(',') },
    json: { type: 'boolean', default: false },
  },
});
const reviews = Number(values.reviews);
const wanted = values.levels.split(',');
const levels = SANITIZE_LEVELS.filter((level) => wanted.includes(level));
if (!Number.isInteger(reviews) || reviews < 1 || reviews > MAX_REVIEWS || levels.length !== wanted.length) {
  console.error(USAGE);
  process.exit(2);
}

const dir = await mkdtemp(join(tmpdir(), 'cleanslate-contamination-'));
const postgres = await startPostgres({ dir, durable: true });
try {
  process.stderr.write(`bench: ${reviews} reviews at each level (${levels.join(', ')}), one at a time\n`);
  const stories = await runLevels({ postgresAdminUrl: postgres.adminUrl, dir, paths: [...levels, 'shipped'], reviews });
  print(stories);
  process.exitCode = missesTarget(stories) ? 1 : 0;
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}

function print({ paths: stories, scratchFacts }: LevelStories): void {
  if (values.json) {
    const results = levels.map((level) => [level, stories.get(level)?.result] as const);
    const round = (_key: string, value: unknown) => (typeof value === 'number' ? Math.round(value * 1e4) / 1e4 : value);
    process.stdout.write(`${JSON.stringify({ levels: Object.fromEntries(results) }, round, 2)}\n`);
    return;
  }
  const row = (...cells: readonly string[]) => console.log(cells.map((cell) => cell.padStart(15)).join(''));
  row('level', 'success', 'wrong versions', 'leaks', 'misjudgements', 'p50 ms', 'tasks/s', 'turned down');
  for (const [path, { result, wrong, wrongTurnedDown, rightTurnedDown }] of stories) {
    row(
      path,
      `${(100 * result.successRate).toFixed(1)} %`,
      `${result.wrongVersionUses}`,
      `${result.leaks}`,
      `${result.misjudgements}`,
      result.p50Ms.toFixed(1),
      result.tasksPerSecond.toFixed(1),
      `${wrongTurnedDown}/${wrong}${rightTurnedDown > 0 ? `, ${rightTurnedDown} right` : ''}`,
    );
  }
  console.log(`${reviews} reviews a level. Turned down: wrong reports that our validator would have sent back.`);
  console.log(`The agents' scratch text had become ${scratchFacts} facts by the end.`);
}

/**
 * `full` and the shipped path: at least 99.5 % right, no wrong version, no leak; and `full` gives up at most a
 * quarter of the throughput of `off`.
 */
function missesTarget({ paths: stories }: LevelStories): boolean {
  const off = stories.get('off')?.result.tasksPerSecond ?? 0;
  return (['full', 'shipped'] as const).some((path) => {
    const result = stories.get(path)?.result;
    if (result === undefined) return false;
    const { successRate, wrongVersionUses, leaks, tasksPerSecond } = result;
    const slow = path === 'full' && tasksPerSecond < 0.75 * off;
    return successRate < 0.995 || wrongVersionUses > 0 || leaks > 0 || slow;
  });
}
