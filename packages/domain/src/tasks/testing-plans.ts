import type { Condition, Gate, Join, Plan, PlanStep } from '@cleanslate/contracts';
import fc from 'fast-check';
import { planOf, planStep } from './testing.ts';

/** Random plans: any DAG of up to eight steps, every other one judged by its last step. */

const shape = fc.record({
  /** Bit j of the i-th number: step i waits for step j (j < i). */
  edges: fc.array(fc.nat(255), { minLength: 1, maxLength: 8 }),
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  baseMs: fc.constantFrom(1, 100, 5_000),
  timeoutMs: fc.constantFrom(1_000, 20_000, 90_000),
  queueTtlMs: fc.constantFrom(5_000, 120_000, 86_400_000),
  judged: fc.boolean(),
  maxRounds: fc.integer({ min: 1, max: 3 }),
  /** Which of the steps before the validator are repeated; what waits for one of them is, too. */
  rework: fc.nat(255),
});

/** Any join, conditions, compensation, a gate, missing evidence and budgets; each bit of a number is for one step. */
const rules = fc.record({
  joins: fc.array(fc.constantFrom<Join>('all', 'any', 'best_effort', { quorum: 1 }, { quorum: 2 }), {
    minLength: 9,
    maxLength: 9,
  }),
  conditional: fc.nat(255),
  atLeast: fc.integer({ min: 0, max: 3 }),
  undone: fc.nat(255),
  gate: fc.option(fc.nat(8), { freq: 2 }),
  onExpiry: fc.constantFrom<Gate['onExpiry']>('reject', 'approve'),
  expiresMs: fc.constantFrom(1_000, 600_000),
  evidence: fc.boolean(),
  moreSteps: fc.nat(6),
  maxTokens: fc.option(fc.constantFrom(1, 50, 100_000)),
  maxMs: fc.option(fc.constantFrom(1, 60_000)),
  /**
   * The validator waits for the last steps only, and the result is read from any step: one may then still run
   * when a join upstream is met.
   */
  sparse: fc.boolean(),
  result: fc.nat(7),
});
type Rules = typeof rules extends fc.Arbitrary<infer R> ? R : never;

/** Steps and joins over all of them, as every task had before plans could say more. */
export const arbitraryPlan: fc.Arbitrary<Plan> = shape.map((drawn) => {
  const keys = drawn.edges.map((_, i) => `s${i}`);
  const parentsOf = (i: number) => keys.filter((_, j) => j < i && hasBit(drawn.edges[i] ?? 0, j));
  const policy = {
    timeoutMs: drawn.timeoutMs,
    queueTtlMs: drawn.queueTtlMs,
    retry: { maxAttempts: drawn.maxAttempts, baseMs: drawn.baseMs, maxMs: 10_000 },
  };
  const steps = keys.map((key, i) => planStep(key, parentsOf(i), policy));
  if (!drawn.judged) return planOf(steps);
  const repeated = new Set<string>();
  steps.forEach((step, i) => {
    const last = i === steps.length - 1 && repeated.size === 0;
    if (last || hasBit(drawn.rework, i) || step.after.some((key) => repeated.has(key))) repeated.add(step.key);
  });
  const judge = planStep('judge', keys, { ...policy, role: 'validator' });
  return planOf([...steps, judge], {
    validation: { step: 'judge', rework: [...repeated], maxRounds: drawn.maxRounds },
    result: { from: `steps.${keys.at(-1)}.output` },
  });
});

/** Plans with everything that a plan can say. */
export const arbitraryRichPlan: fc.Arbitrary<Plan> = fc.tuple(arbitraryPlan, rules).map(([plain, drawn]) => {
  const { validation } = plain;
  const template = validation && plain.steps.find((step) => !isRepeated(plain, step.key) && step.key !== 'judge');
  const evidence =
    drawn.evidence && template
      ? { evidence: { step: template.key, maxSteps: plain.steps.length + drawn.moreSteps } }
      : {};
  const gated = drawn.gate === null ? undefined : (plain.steps[drawn.gate]?.key ?? 'validation');
  const after = gated === 'judge' ? 'validation' : gated;
  const hasGate = after !== undefined && (after !== 'validation' || validation !== null);
  return planOf(
    plain.steps.map((step, i) => withRules(plain, step, i, drawn, 'evidence' in evidence)),
    {
      result: { from: `steps.${plain.steps[drawn.result]?.key ?? plain.steps[0]?.key}.output` },
      validation: validation && {
        ...validation,
        ...evidence,
        ...(drawn.maxTokens === null ? {} : { maxTokens: drawn.maxTokens }),
        ...(drawn.maxMs === null ? {} : { maxMs: drawn.maxMs }),
      },
      ...(hasGate ? { gate: { after, expiresMs: drawn.expiresMs, onExpiry: drawn.onExpiry } } : {}),
    },
  );
});

function withRules(plan: Plan, step: PlanStep, i: number, drawn: Rules, fed: boolean): PlanStep {
  const judges = step.key === 'judge';
  const join = judges ? 'best_effort' : (drawn.joins[i] ?? 'all');
  const fits = step.after.length > 0 && (typeof join !== 'object' || join.quorum <= step.after.length);
  const [parent] = step.after;
  const when: Condition =
    parent === undefined
      ? { path: 'input.wanted', exists: true }
      : {
          any: [
            { path: `steps.${parent}.output.n`, atLeast: drawn.atLeast },
            { path: 'feedback', exists: true },
          ],
        };
  const undo = { role: 'analyzer', executor: 'test/undo', input: { what: { from: `steps.${step.key}.output` } } };
  const awaited = new Set(plan.steps.flatMap((other) => (other.key === 'judge' ? [] : other.after)));
  const sparse = { after: step.after.filter((key) => !awaited.has(key)), input: {} };
  return {
    ...step,
    ...(judges && drawn.sparse ? sparse : {}),
    ...(fits && !(fed && isRepeated(plan, step.key)) ? { join } : {}),
    ...(!judges && hasBit(drawn.conditional, i) ? { when } : {}),
    ...(!judges && hasBit(drawn.undone, i) ? { compensate: undo } : {}),
  };
}

function isRepeated({ validation }: Plan, key: string): boolean {
  return validation?.rework.includes(key) ?? false;
}

function hasBit(bits: number, i: number): boolean {
  return ((bits >> i) & 1) === 1;
}
