import { z } from 'zod';
import { mcNemar } from './mcnemar.ts';

const Outcome = z.strictObject({
  id: z.string(),
  category: z.string(),
  fingerprint: z.string(),
  passed: z.boolean(),
});
export type Outcome = z.infer<typeof Outcome>;

/** The result of a run, kept to compare later runs with. */
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
  /** Only of the questions that the baseline has in their present wording. */
  readonly compared: number;
  readonly before: number | null;
  readonly now: number | null;
  readonly worse: number;
  readonly better: number;
  readonly p: number | null;
  readonly dropped: boolean;
};

/** A category has dropped if it lost more than this, and chance would do so less often than one time in twenty. */
const DROP = 0.05;
const NOISE = 0.05;

/**
 * By category: how many pass, and whether it dropped against the baseline. New and reworded questions are counted but
 * not compared.
 */
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
    // In whole questions: 19 of 20 is five points, without rounding errors.
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
