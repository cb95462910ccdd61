import { z } from 'zod';
import { mcNemar } from './mcnemar.ts';

const Outcome = z.strictObject({
  id: z.string(),
  category: z.string(),
  fingerprint: z.string(),
  passed: z.boolean(),
});
export type Outcome = z.infer<typeof Outcome>;

/** What a run came to, kept to compare later ones with. */
export const Baseline = z.strictObject({
  format: z.literal(1),
  madeAt: z.string(),
  revision: z.int().nonnegative(),
  space: z.string().nullable(),
  questions: z.array(Outcome),
});
export type Baseline = z.infer<typeof Baseline>;

/** Any of these above zero fails the run, whatever the baseline says. */
export const ZERO_TOLERANCE = ['stale', 'foreign', 'erased', 'changed_number'] as const;
export type Violation = (typeof ZERO_TOLERANCE)[number];

export type CategoryReport = {
  readonly category: string;
  readonly asked: number;
  readonly passed: number;
  /** Of the questions that the baseline knows as they are now. */
  readonly compared: number;
  readonly before: number | null;
  readonly now: number | null;
  readonly worse: number;
  readonly better: number;
  readonly p: number | null;
  readonly dropped: boolean;
};

/** A category has dropped when it lost more than this, and chance would do so more rarely than one time in twenty. */
const DROP = 0.05;
const NOISE = 0.05;

/** By category: how many pass, and whether it dropped against the baseline. Questions that are new, or were reworded, are counted and not compared. */
export function compare(outcomes: readonly Outcome[], baseline: Baseline | null): CategoryReport[] {
  const before = new Map(
    baseline?.questions.map((outcome) => [`${outcome.id} ${outcome.fingerprint}`, outcome.passed]),
  );
  const categories = Map.groupBy(outcomes, ({ category }) => category);
  return [...categories].map(([category, asked]) => {
    const pairs = asked.flatMap(({ id, fingerprint, passed }) => {
      const was = before.get(`${id} ${fingerprint}`);
      return was === undefined ? [] : [{ was, is: passed }];
    });
    const worse = pairs.filter(({ was, is }) => was && !is).length;
    const better = pairs.filter(({ was, is }) => !was && is).length;
    const rate = (key: 'was' | 'is') =>
      pairs.length === 0 ? null : pairs.filter((pair) => pair[key]).length / pairs.length;
    const p = pairs.length === 0 ? null : mcNemar(worse, better);
    // As whole questions: 19 of 20 is five points, and not a hair more by rounding.
    const lost = worse - better > DROP * pairs.length + 1e-9;
    return {
      category,
      asked: asked.length,
      passed: asked.filter(({ passed }) => passed).length,
      compared: pairs.length,
      before: rate('was'),
      now: rate('is'),
      worse,
      better,
      p,
      dropped: lost && p !== null && p < NOISE,
    };
  });
}
