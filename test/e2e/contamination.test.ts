import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SANITIZE_LEVELS } from '@cleanslate/domain';
import { expect, inject, test } from 'vitest';
import { type LevelStories, runLevels } from '../../bench/src/contamination/run-levels.ts';

// The benchmark itself, short: its answer key judges, not our validator.
test('each level keeps more of a contaminated base away from the agents; full and the shipped path keep all of it', {
  timeout: 300_000,
}, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'cleanslate-contamination-'));
  try {
    const paths = [...SANITIZE_LEVELS, 'shipped'] as const;
    const stories = await runLevels({
      postgresAdminUrl: inject('postgresAdminUrl'),
      dir,
      paths,
      reviews: 4,
      warmUp: 1,
    });
    const [off, expiry, versions] = [of(stories, 'off'), of(stories, 'expiry'), of(stories, 'versions')];
    // The faults are there: what an agent noted has become a fact, and nothing but the level stands before it.
    expect(stories.scratchFacts).toBeGreaterThan(0);
    expect(off.result).toMatchObject({ successRate: 0 });
    for (const harm of ['wrongVersionUses', 'leaks', 'misjudgements'] as const)
      expect(off.result[harm], harm).toBeGreaterThan(0);
    expect(expiry.result.wrongVersionUses).toBeLessThan(off.result.wrongVersionUses);
    expect(versions.result.wrongVersionUses).toBeLessThan(expiry.result.wrongVersionUses);
    expect(versions.result.wrongVersionUses).toBeGreaterThan(0);
    // The validator, which was only listened to, would have let none of that through.
    for (const story of [off, expiry, versions]) expect(story.wrongTurnedDown).toBe(story.wrong);
    const clean = { successRate: 1, wrongVersionUses: 0, leaks: 0, misjudgements: 0 };
    for (const path of ['full', 'shipped'] as const)
      expect(of(stories, path)).toMatchObject({ result: clean, wrong: 0, rightTurnedDown: 0 });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

function of({ paths }: LevelStories, path: 'shipped' | (typeof SANITIZE_LEVELS)[number]) {
  const story = paths.get(path);
  if (story === undefined) throw new Error(`nothing ran on ${path}`);
  return story;
}
