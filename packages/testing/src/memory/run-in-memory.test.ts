import { readFile } from 'node:fs/promises';
import { defineWorkflow } from '@cleanslate/domain';
import { defineExecutor } from '@cleanslate/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  crashEverywhere,
  expectExactlyOnce,
  type FaultPlan,
  faultPlan,
  randomFaults,
  runInMemory,
  type StepStory,
  virtualClock,
} from './index.ts';
import { chain, executorsOn, judged, SAMPLES } from './sample-workflows.ts';

const SEEDS = 500;

function runChain(faults?: FaultPlan) {
  const clock = virtualClock();
  const effects: string[] = [];
  const run = runInMemory(chain, {
    clock,
    executors: executorsOn(clock, effects),
    input: { topic: 'nothing' },
    ...(faults === undefined ? {} : { faults }),
  });
  return run.then((ended) => ({ ...ended, sideEffects: effects }));
}

describe('a calm run', () => {
  test('completes in the time its steps take, each by one attempt', async () => {
    const run = await runChain();
    expectExactlyOnce(run);
    expect(run).toMatchObject({
      state: 'completed',
      result: { text: 'about nothing, draft 1' },
      faults: [],
      refused: [],
    });
    for (const step of run.steps) expect(step).toMatchObject({ attempts: 1, spent: 0, runs: 1, effects: 1 });
    expect(run.elapsedMs).toBeGreaterThan(4_500);
  });

  test('is validated in two rounds', async () => {
    const clock = virtualClock();
    const run = await runInMemory(judged, { clock, executors: executorsOn(clock), input: { topic: 'bees' } });
    expectExactlyOnce(run);
    expect(run).toMatchObject({ state: 'completed', round: 2, result: { text: 'about bees, draft 2' } });
    expect(run.steps.map(({ stepId }) => stepId)).toEqual(['draft', 'judge', 'draft#2', 'judge#2']);
  });
});

type Case = readonly [what: string, faults: FaultPlan, expected: Partial<StepStory> & { readonly acts?: number }];

describe('one fault', () => {
  test.each([
    ['a lost doorbell is rung again', faultPlan({ message: 'doorbell', does: 'lose' }), { attempts: 1 }],
    ['a doorbell that came twice runs once', faultPlan({ message: 'doorbell', does: 'duplicate' }), { runs: 1 }],
    [
      'a claim whose answer was lost is granted again',
      faultPlan({ message: 'claim answer', does: 'drop' }),
      { runs: 1, attempts: 1 },
    ],
    ['a report that was lost is said again', faultPlan({ message: 'report', does: 'lose' }), { runs: 1, attempts: 1 }],
    ['a report that came twice counts once', faultPlan({ message: 'report', does: 'duplicate' }), { runs: 1 }],
    [
      'an executor that fails is tried again',
      faultPlan({ executor: 'first', does: 'fail' }),
      { attempts: 2, spent: 1, runs: 1 },
    ],
    [
      'a worker that stood still does nothing on the claim it lost',
      faultPlan({ executor: 'first', does: 'freeze' }),
      { attempts: 2, runs: 2, effects: 1 },
    ],
    [
      'a worker that died with the result in its hands has a successor',
      faultPlan({ crash: 'worker', when: 'before', call: 'report' }),
      { attempts: 2, runs: 2, effects: 1, acts: 4 },
    ],
    [
      'a scheduler that died before its commit takes the report again',
      faultPlan({ crash: 'scheduler', when: 'before', call: 'commit', nth: 3 }),
      { attempts: 1, runs: 1 },
    ],
  ] as readonly Case[])('%s', async (_, faults, { acts = 3, ...expected }) => {
    const run = await runChain(faults);
    expectExactlyOnce(run);
    expect(run.faults).toHaveLength(1);
    expect(run.state).toBe('completed');
    expect(run.steps[0]).toMatchObject(expected);
    // Behind a fence a step acts again only where its first worker died after it had acted.
    expect(new Set(run.sideEffects).size).toBe(3);
    expect(run.sideEffects).toHaveLength(acts);
  });

  test('a scheduler that died before it rang a doorbell rings it when it is back, not at the next check', async () => {
    const run = await runChain(faultPlan({ crash: 'scheduler', when: 'before', call: 'publish doorbell' }));
    expectExactlyOnce(run);
    const at = (what: string) =>
      Number(
        run.story
          .split('\n')
          .find((line) => line.includes(what))
          ?.trim()
          .split(' ')[0],
      );
    expect(at('claim of first/1') - at('scheduler is back')).toBeLessThan(1_000);
  });

  test('attempts that run out leave one dead letter', async () => {
    const faults = faultPlan(
      ...[1, 2, 3, 4].map((attempt) => ({ executor: 'second', does: 'fail', attempt }) as const),
    );
    const run = await runChain(faults);
    expectExactlyOnce(run);
    expect(run).toMatchObject({ state: 'failed', error: { code: 'ATTEMPTS_EXHAUSTED' } });
    expect(run.deadLetters).toMatchObject([{ stepId: 'second', attempt: 4, error: { code: 'ATTEMPTS_EXHAUSTED' } }]);
  });
});

test('whichever process dies, before or after whichever call to the outside, everything takes effect once', async () => {
  let crashes = 0;
  const options = () => {
    const clock = virtualClock();
    return { clock, executors: executorsOn(clock), input: { topic: 'death' } };
  };
  for (const workflow of [chain, judged])
    for await (const run of crashEverywhere(workflow, options)) {
      expectExactlyOnce(run);
      expect(run.state).toBe('completed');
      expect(run.faults).toHaveLength(run.name === 'no crash' ? 0 : 1);
      crashes += run.faults.length;
    }
  expect(crashes).toBeGreaterThan(100);
});

test(`${SEEDS} random plans of faults: every task ends, every result counts once, the same seed gives the same`, {
  timeout: 300_000,
}, async () => {
  const met = { faults: 0, completed: 0, failed: 0, again: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const [workflow, more = {}] = SAMPLES[seed % SAMPLES.length] ?? [chain];
    const once = () => {
      const clock = virtualClock();
      return runInMemory(workflow, {
        clock,
        executors: executorsOn(clock),
        input: { topic: 'chance' },
        faults: randomFaults({ seed }),
        ...more,
      });
    };
    const run = await once();
    expectExactlyOnce(run);
    met.faults += run.faults.length;
    met[run.state === 'completed' ? 'completed' : 'failed']++;
    met.again += run.steps.filter(({ runs }) => runs > 1).length;
    if (seed % 50 === 0) expect((await once()).story).toBe(run.story);
  }
  console.log(`${SEEDS} seeds: ${JSON.stringify(met)}`);
  // A plan that never strikes, or a net that catches everything in the first attempt, would prove nothing.
  expect(met.faults).toBeGreaterThan(5 * SEEDS);
  expect(met.completed).toBeGreaterThan(SEEDS / 4);
  expect(met.failed).toBeGreaterThan(SEEDS / 20);
  expect(met.again).toBeGreaterThan(SEEDS / 10);
});

test('what is not exactly once is told, with the story', async () => {
  const run = await runChain();
  const [first, ...others] = run.steps;
  if (first === undefined) throw new Error('the chain has steps');
  const letter = {
    stepId: 'first',
    attempt: 1,
    error: { code: 'INTERNAL', disposition: 'terminal', message: '' },
  } as const;
  for (const [wrong, told] of [
    [{ state: 'executing' }, 'the task is still executing'],
    [
      { events: [...run.events, ...run.events.slice(-1)] },
      'its end was told 2 times; the numbers of its events have a gap',
    ],
    [{ left: 2 }, '2 messages are left over'],
    [{ steps: [{ ...first, effects: 2 }, ...others] }, 'step first is completed and took effect 2 times'],
    [{ steps: [{ ...first, runs: 0 }, ...others] }, 'step first completed without having run'],
    [{ steps: [{ ...first, state: 'executing', effects: 0 }, ...others] }, 'step first is still executing'],
    [{ deadLetters: [letter, letter] }, 'step first was given up on 2 times'],
  ] as const)
    expect(() => expectExactlyOnce({ ...run, ...wrong })).toThrow(`${told}\nfaults that came to pass: none\n`);
});

test('a missing executor and a wrong input are told before anything runs', async () => {
  const options = { executors: executorsOn(virtualClock()).slice(1), input: { topic: 'x' } };
  await expect(runInMemory(chain, options)).rejects.toThrow('"sample/write" of role "writer"');
  await expect(
    runInMemory(chain, { executors: executorsOn(virtualClock()), input: { top: 'x' } }),
  ).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  });
});

test('an hour of waiting takes no real time: else this test would run into its own time-out', async () => {
  const clock = virtualClock();
  const hour = 3_600_000;
  const wait = defineExecutor({
    role: 'writer',
    name: 'sample/wait',
    input: z.strictObject({}),
    output: z.strictObject({}),
    run: async (ctx) => {
      await clock.sleep(hour, ctx.signal);
      return {};
    },
  });
  const workflow = defineWorkflow({
    name: 'sample-waiting',
    input: z.strictObject({}),
    result: 'steps.wait.output',
    steps: { wait: { role: 'writer', executor: 'sample/wait', input: {}, timeoutMs: 2 * hour } },
  });
  const run = await runInMemory(workflow, { clock, executors: [wait], input: {}, deadlineMs: 4 * hour });
  expectExactlyOnce(run);
  expect(run).toMatchObject({ state: 'completed', steps: [{ attempts: 1, runs: 1 }] });
  expect(run.elapsedMs).toBeGreaterThanOrEqual(hour);
});

test('an executor that hangs is ended by its time-out, in virtual time', async () => {
  const hang = defineExecutor({
    role: 'writer',
    name: 'sample/hang',
    input: z.strictObject({}),
    output: z.strictObject({}),
    run: () => new Promise<Record<string, never>>(() => undefined),
  });
  const retry = { maxAttempts: 2, baseMs: 60_000, maxMs: 60_000 };
  const workflow = defineWorkflow({
    name: 'sample-hanging',
    input: z.strictObject({}),
    result: 'steps.wait.output',
    steps: { wait: { role: 'writer', executor: 'sample/hang', input: {}, timeoutMs: 600_000, retry } },
  });
  const run = await runInMemory(workflow, { executors: [hang], input: {}, realLimitMs: 20 });
  expectExactlyOnce(run);
  expect(run).toMatchObject({ state: 'failed', error: { code: 'ATTEMPTS_EXHAUSTED' } });
  expect(run.deadLetters).toMatchObject([{ attempt: 2, error: { details: { last: { code: 'ATTEMPT_TIMEOUT' } } } }]);
  expect(run.elapsedMs).toBeGreaterThan(1_200_000);
});

test('the guide shows the example that these tests run', async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
  const guide = await read('../../../../docs/testing-your-agent.md');
  for (const file of ['summary.ts', 'summary.test.ts'])
    expect(guide).toContain(`\`\`\`ts\n${await read(`example/${file}`)}\`\`\``);
});
