import type { LaunderAction, SourceType } from '@cleanslate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ARCHIVE_BELOW, type FadingVersion, hasFaded, importanceNow } from './fading.ts';
import { type LaunderFindings, planLaundering } from './plan-laundering.ts';
import { judgeContradictions, judgeDuplicates, refOf, type TwinVersion } from './twins.ts';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
const ALWAYS = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

function twin(knowledgeId: string, more: Partial<TwinVersion> = {}): TwinVersion {
  return { knowledgeId, version: 1, signature: 's', trust: 'internal_document', valid: ALWAYS, writtenAt: 0, ...more };
}
function fading(knowledgeId: string, more: Partial<FadingVersion> = {}): FadingVersion {
  return {
    knowledgeId,
    version: 1,
    layer: 'working',
    importance: 0.8,
    writtenAt: NOW - 60 * DAY,
    lastUsedAt: null,
    ...more,
  };
}

describe('importance', () => {
  test('halves in 13.5 days, and a core fact keeps it', () => {
    expect(importanceNow(0.8, 'working', NOW - 13.5 * DAY, NOW)).toBeCloseTo(0.4, 2);
    expect(importanceNow(0.8, 'core', NOW - 900 * DAY, NOW)).toBe(0.8);
  });

  test('computed twice it is the same, and it never rises by itself', () => {
    const at = fc.integer({ min: 0, max: 4_000 });
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), at, at, (base, one, two) => {
        const [early, late] = [Math.min(one, two) * DAY, Math.max(one, two) * DAY];
        const first = importanceNow(base, 'reflection', 0, early);
        expect(importanceNow(base, 'reflection', 0, late)).toBeLessThanOrEqual(first);
        expect(importanceNow(base, 'reflection', 0, early)).toBe(first);
      }),
    );
  });

  test('archived: below 0.2 and unused for 30 days; neither alone', () => {
    expect(hasFaded(fading('a'), NOW)).toBe(true);
    expect(hasFaded(fading('a', { lastUsedAt: NOW - 29 * DAY }), NOW)).toBe(false);
    expect(hasFaded(fading('a', { importance: 1, writtenAt: NOW - 31 * DAY }), NOW)).toBe(false);
    expect(hasFaded(fading('a', { importance: 0.01, writtenAt: NOW - 29 * DAY }), NOW)).toBe(false);
    expect(hasFaded(fading('a', { layer: 'core', importance: 0.01 }), NOW)).toBe(false);
    expect(ARCHIVE_BELOW).toBe(0.2);
  });
});

describe('twins', () => {
  test('the more trusted is kept, of equals the older', () => {
    const merged = judgeDuplicates([
      twin('young', { writtenAt: 5 }),
      twin('old'),
      twin('web', { trust: 'external_source' }),
    ]);
    expect(merged.actions).toEqual([
      { action: 'merge', fact: 'young@1', into: 'old@1' },
      { action: 'merge', fact: 'web@1', into: 'old@1' },
    ]);
  });

  test('what a person stated, or what holds longer, is only proposed', () => {
    const people = judgeDuplicates([twin('a', { trust: 'human_confirmed' }), twin('b', { trust: 'human_confirmed' })]);
    expect(people).toMatchObject({ actions: [], proposals: [{ proposal: 'duplicate', fact: 'b@1', other: 'a@1' }] });
    const longer = judgeDuplicates([
      twin('a', { valid: { from: 0, until: 9 } }),
      twin('b', { valid: { from: 5, until: 20 } }),
    ]);
    expect(longer).toMatchObject({ actions: [], proposals: [{ fact: 'b@1' }] });
    expect(
      judgeDuplicates([twin('a', { valid: { from: 0, until: 5 } }), twin('b', { valid: { from: 5, until: 9 } })]),
    ).toEqual({ actions: [], proposals: [] });
  });

  test('a contradiction is a question, asked once', () => {
    const [incumbent, challenger] = [twin('a'), twin('b', { signature: 'other', writtenAt: 3 })];
    const again = twin('c', { signature: 'other', writtenAt: 4 });
    expect(judgeContradictions([challenger, again, incumbent], () => false).actions).toEqual([
      { action: 'dispute', fact: 'a@1', challenger: 'b@1' },
    ]);
    expect(judgeContradictions([challenger, incumbent], () => true).actions).toEqual([]);
    const person = twin('p', { signature: 'other', trust: 'human_confirmed' });
    const another = twin('q', { trust: 'human_confirmed' });
    expect(judgeContradictions([person, another], () => false)).toMatchObject({
      actions: [],
      proposals: [{ proposal: 'contradiction' }],
    });
  });
});

const trust = fc.constantFrom<SourceType>('human_confirmed', 'internal_document', 'external_source', 'model_inference');
const version = fc.record({
  knowledgeId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  signature: fc.constantFrom('x', 'y', 'z'),
  trust,
  span: fc.constantFrom([0, 10], [0, 20], [10, 20], [5, 15]),
  writtenAt: fc.integer({ min: 0, max: 5 }),
  faded: fc.boolean(),
});
type World = { versions: (TwinVersion & { readonly faded: boolean })[]; disputes: Set<string> };

function toWorld(drawn: readonly (typeof version extends fc.Arbitrary<infer T> ? T : never)[]): World {
  return {
    versions: drawn.map(({ span: [from = 0, until = 0], ...rest }, index) => ({
      ...rest,
      version: index + 1,
      valid: { from, until },
    })),
    disputes: new Set(),
  };
}

/** As the database finds it: groups of several facts by signature, all of them by their one key, and what has faded. */
function look({ versions, disputes }: World): LaunderFindings {
  const groups = [...Map.groupBy(versions, ({ signature }) => signature).values()];
  const facts = [...Map.groupBy(versions, ({ knowledgeId }) => knowledgeId).values()];
  return {
    duplicates: groups.filter((group) => new Set(group.map(({ knowledgeId }) => knowledgeId)).size > 1),
    contradictions: [versions],
    disputedBefore: disputes,
    disputed: new Set([...disputes].map((question) => question.split(' ')[0] ?? '')),
    fading: facts.map((fact) =>
      fact.map(({ knowledgeId, version: number, faded }) =>
        fading(knowledgeId, { version: number, ...(faded ? {} : { layer: 'core' }) }),
      ),
    ),
    expired: [],
    uncited: [],
  };
}

function carryOut(world: World, action: LaunderAction): World {
  if (action.action !== 'dispute')
    return { ...world, versions: world.versions.filter((each) => refOf(each) !== action.fact) };
  const challenger = world.versions.find((each) => refOf(each) === action.challenger);
  const question = `${action.fact.split('@')[0]} ${challenger?.signature}`;
  return { ...world, disputes: new Set([...world.disputes, question]) };
}

describe('a plan', () => {
  test('carried out leaves nothing to do, and in portions it is the same plan', () => {
    fc.assert(
      fc.property(fc.array(version, { maxLength: 14 }), fc.integer({ min: 1, max: 4 }), (drawn, portion) => {
        const whole = planLaundering(look(toWorld(drawn)), NOW).actions;
        let world = toWorld(drawn);
        const done: LaunderAction[] = [];
        for (let rounds = 0; rounds < 100; rounds++) {
          const next = planLaundering(look(world), NOW).actions.slice(0, portion);
          if (next.length === 0) break;
          // An archive of a part of a fact would leave holes in its history.
          for (const action of next) world = carryOut(world, action);
          done.push(...next);
        }
        expect(planLaundering(look(world), NOW).actions).toEqual([]);
        const texts = (actions: readonly LaunderAction[]) => actions.map((action) => JSON.stringify(action)).sort();
        expect(texts(done)).toEqual(texts(whole));
      }),
      { numRuns: 500 },
    );
  });

  test('never touches what a person stated but by a question, and never takes the last word of a signature', () => {
    fc.assert(
      fc.property(fc.array(version, { maxLength: 14 }), (drawn) => {
        const world = toWorld(drawn.map((each) => ({ ...each, faded: false })));
        const { actions } = planLaundering(look(world), NOW);
        const after = actions.reduce(carryOut, world);
        const people = ({ versions }: World) => versions.filter((each) => each.trust === 'human_confirmed').map(refOf);
        expect(people(after)).toEqual(people(world));
        // Whatever was said for a moment is still said for it.
        const said = ({ versions }: World) =>
          new Set(
            versions.flatMap(({ signature, valid }) =>
              Array.from({ length: valid.until - valid.from }, (_, at) => `${signature} ${valid.from + at}`),
            ),
          );
        expect(said(after)).toEqual(said(world));
      }),
      { numRuns: 500 },
    );
  });
});
