import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot, findPinnedNode } from '@cleanslate/infra';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Env, json, slate } from '../cli/slate.ts';
import { expectConserved } from '../fixtures/conservation.ts';
import { lettersOf } from '../fixtures/ledger-rows.ts';
import { LETTER_WORKFLOWS } from '../fixtures/letter-workflows.ts';
import type { Script } from '../fixtures/script.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

/** `LETTERS=5000` for the long form. */
const LETTERS = Number(process.env['LETTERS'] ?? 150);
const RATE = 50;

type Report = {
  readonly replayed: string[];
  readonly failedAgain: string[];
  readonly refused: { letterId: string; error: { code: string } }[];
  readonly notTried: string[];
  readonly unsettled: string[];
  readonly parked: string[];
  readonly selected: number;
  readonly stopped: boolean;
};

let p: ScriptedPlatform;
let env: Env;
let home: string;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workflows: LETTER_WORKFLOWS });
  home = await mkdtemp(join(tmpdir(), 'slate-dlq-'));
  const { url, password } = p.platform.broker;
  env = { NATS_URL: url, NATS_PASSWORD: password, SLATE_TENANT: 'acme', CLEANSLATE_HOME: home };
});
afterAll(async () => {
  await p[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const run = (...args: string[]) => slate(['dlq', ...args], env);
const count = async (status: string, reason: string) =>
  (
    await p.sql<{ n: number }>(
      'SELECT count(*)::int4 AS n FROM ledger.dead_letters WHERE status = $1 AND reason = $2',
      [status, reason],
    )
  )[0]?.n ?? 0;

describe('slate dlq', () => {
  test('B10, B12: a bulk replay killed in its middle and said again replays each letter once, at its rate; one poison blocks nobody; exit 1 says partial', async () => {
    const code = 'BULK_TEN';
    const healing = { failUntil: 'ten', failWith: { code, disposition: 'terminal' } } as const;
    const tasks = await failedTasks(24, (i) => (i === 20 ? { failFirst: 99, failWith: healing.failWith } : healing));
    p.openGate('ten');
    const dry = await run('replay', '--reason', code, '--dry-run', '--json');
    expect(json<Report>(dry)).toMatchObject({ selected: 24, refused: [], failedAgain: [] });
    expect(await count('open', code)).toBe(24);

    const main = join(checkoutRoot, 'packages', 'cli', 'src', 'main.ts');
    const child = spawn(findPinnedNode(), [main, 'dlq', 'replay', '--reason', code, '--rate', '2'], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: 'ignore',
    });
    await waitFor('a third of them', async () => (await count('open', code)) <= 16);
    child.kill('SIGKILL');
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    const left = await count('open', code);
    expect(left).toBeGreaterThan(5);

    const idleMs = await liveMs();
    const began = Date.now();
    const [second, busyMs] = await Promise.all([
      run('replay', '--reason', code, '--rate', '10', '--json'),
      waitFor('the second run', async () => (await count('open', code)) < left).then(() => liveMs()),
    ]);
    // Replays don't crowd out live work; the constant is for a machine that is busy with other tests.
    expect(busyMs).toBeLessThan(2 * idleMs + 20_000);
    expect(second.stderr).toBe('');
    const report = json<Report>(second);
    // The killed one's last requests may still have been on their way.
    expect(report.selected).toBeLessThanOrEqual(left);
    expect(report).toMatchObject({ refused: [], unsettled: [], notTried: [], stopped: false });
    expect(report.failedAgain).toHaveLength(1);
    expect(second.code).toBe(1);
    const states = await Promise.all(tasks.map(async (taskId) => (await p.client.result(taskId)).state));
    expect(states.map((state, i) => (state === 'completed') === (i !== 20))).toEqual(tasks.map(() => true));
    for (const [i, taskId] of tasks.entries()) {
      expect(p.deeds(taskId).filter((deed) => deed.what === 'start')).toHaveLength(2);
      expect(p.deeds(taskId).filter((deed) => deed.what === 'effect')).toHaveLength(i === 20 ? 0 : 1);
    }
    const [first, again] = await lettersOf(p.platform, tasks[20] ?? '');
    expect([first?.attempt, again?.attempt]).toEqual([1, 2]);
    await expectPaced(report.replayed, began, 10);
  });

  test(
    `B12: ${LETTERS} letters at ${RATE} a second: at their rate, and live work beside it goes on`,
    async () => {
      const code = 'BULK_MANY';
      const script = { failUntil: 'many', failWith: { code, disposition: 'terminal' as const } };
      const submitted: Promise<string>[] = [];
      for (let n = 0; n < LETTERS; n++) {
        submitted.push(p.submit('given-up', script));
        if (n % 50 === 49) await Promise.all(submitted.slice(-50));
      }
      const tasks = await Promise.all(submitted);
      await waitFor('all of them given up', async () => (await count('open', code)) === LETTERS, {
        timeoutMs: 20_000 + LETTERS * 60,
        everyMs: 200,
      });
      p.openGate('many');
      const [idle, busy]: [number[], number[]] = [[], []];
      for (let i = 0; i < 20; i++) idle.push(await liveMs(1));
      let over = false;
      const began = Date.now();
      const live = (async () => {
        while (!over) busy.push(await liveMs(1));
      })();
      const ran = await run('replay', '--reason', code, '--rate', String(RATE), '--json');
      over = true;
      await live;
      const perSecond = await replaysPerSecond(json<Report>(ran).replayed);
      // For the record; the bounds leave room for a machine that is busy with other tests.
      console.log({ perSecond, idleP95: p95(idle), busyP95: p95(busy), seconds: (Date.now() - began) / 1_000 });
      expect(json<Report>(ran)).toMatchObject({ selected: LETTERS, refused: [], failedAgain: [], notTried: [] });
      expect(ran.code).toBe(0);
      expect(perSecond).toBeGreaterThan(RATE * 0.03);
      await expectPaced(json<Report>(ran).replayed, began, RATE);
      expect(p95(busy)).toBeLessThan(2 * p95(idle) + 20_000);
      const effects = p.deeds().filter(({ what, taskId }) => what === 'effect' && tasks.includes(taskId));
      expect(effects).toHaveLength(LETTERS);
    },
    90_000 + LETTERS * 200,
  );

  test('a bulk replay stops when replays fail again', async () => {
    const code = 'STILL_BROKEN';
    await failedTasks(8, () => ({ failFirst: 99, failWith: { code, disposition: 'terminal' } }));
    const ran = await run('replay', '--reason', code, '--in-flight', '1', '--rate', '5', '--json');
    expect(ran.code).toBe(1);
    const report = json<Report>(ran);
    expect(report).toMatchObject({ selected: 8, stopped: true });
    expect(report.failedAgain.length).toBeGreaterThanOrEqual(3);
    expect(report.notTried.length).toBeGreaterThan(0);
    expect(report.replayed.length + report.notTried.length).toBe(8);
    // Three bulk replays park a letter; the bulk leaves it alone from then on.
    for (let i = 0; i < 2; i++) await run('replay', '--reason', code, '--stop-after', '0', '--rate', '50', '--json');
    await run('replay', '--reason', code, '--stop-after', '0', '--rate', '50', '--json');
    const last = await run('replay', '--reason', code, '--stop-after', '0', '--rate', '50', '--json');
    expect(json<Report>(last).parked).toHaveLength(8);
    expect(json<Report>(last).replayed).toEqual([]);
    expect(json<{ letters: unknown[] }>(await run('list', '--needs-human', '--json')).letters).toHaveLength(8);
  });

  test('one letter is replayed with a value set; filters by workflow and age; discarded with a reason', async () => {
    const code = 'MEND_ME';
    const [taskId = ''] = await failedTasks(1, () => ({ failFirst: 1, failWith: { code, disposition: 'terminal' } }));
    const [letter] = await lettersOf(p.platform, taskId);
    const id = letter?.letter_id ?? '';
    const wrong = await run('replay', id, '--set', 'nothing.here=1');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('there is no "nothing"')]);
    const set = await run('replay', id, '--set', 'script.bytes=9', '--json');
    expect(json(set)).toMatchObject({ letterId: id, taskId, attempt: 2 });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'completed', result: { text: 'x'.repeat(9) } });
    expect((await run('show', id)).stdout).toContain('replayed_edited');
    const listed = async (...args: string[]) =>
      json<{ letters: unknown[] }>(await run('list', '--reason', code, ...args, '--json')).letters.length;
    expect(await listed('--workflow', 'given-up', '--since', '1h')).toBe(1);
    expect(await listed('--workflow', 'other')).toBe(0);
    expect(await listed('--older-than', '1h')).toBe(0);
    expect((await run('replay')).code).toBe(2);
    expect((await run('discard', id, '--because', 'x')).code).toBe(2);
    const discarded = await run('discard', '--reason', 'STILL_BROKEN', '--because', 'never to be mended', '--json');
    expect(discarded.code).toBe(0);
    expect(json<{ discarded: string[] }>(discarded).discarded).toHaveLength(8);
    expect(await count('open', 'STILL_BROKEN')).toBe(0);
    await expectConserved(p.platform);
  });
});

async function failedTasks(n: number, scriptOf: (i: number) => Script): Promise<string[]> {
  const tasks: string[] = [];
  // One after the other: their letters are replayed in the order in which they failed.
  for (let i = 0; i < n; i++) {
    const taskId = await p.submit('given-up', scriptOf(i));
    expect((await p.client.result(taskId)).state).toBe('failed');
    tasks.push(taskId);
  }
  return tasks;
}

const p95 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;

/** Between the first and the last of them, by the letters' own stories. */
async function replaysPerSecond(letters: readonly string[]): Promise<number> {
  const times = await replayTimes(letters);
  return ((times.length - 1) * 1_000) / ((times.at(-1) ?? 0) - (times[0] ?? 0));
}

/** From submit to result of the middle one of some live tasks. Milliseconds. */
async function liveMs(tasks = 5): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < tasks; i++) {
    const began = performance.now();
    expect((await p.client.result(await p.submit('one-step', {}))).state).toBe('completed');
    took.push(performance.now() - began);
  }
  return took.sort((a, b) => a - b)[Math.floor(tasks / 2)] ?? 0;
}

/**
 * None of them stands in the ledger before its turn at this rate, counted from `began` (milliseconds), before the
 * command was given. A machine that is slow, or stalls and then commits many at once, only makes them later.
 */
async function expectPaced(letters: readonly string[], began: number, rate: number): Promise<void> {
  const times = await replayTimes(letters);
  expect(times).toHaveLength(letters.length);
  // Timers and clocks count whole milliseconds.
  const early = times.map((at, i) => began + (i * 1_000) / rate - at).filter((ms) => ms > 50);
  expect(early).toEqual([]);
}

/** Milliseconds, in order. */
async function replayTimes(letters: readonly string[]): Promise<readonly number[]> {
  const rows = await p.sql<{ at: string }>(
    `SELECT h->>'at' AS at FROM ledger.dead_letters, json_array_elements(history) AS h WHERE letter_id = ANY ($1) AND h->>'what' = 'replayed'`,
    [letters],
  );
  return rows.map((row) => Date.parse(row.at)).sort((a, b) => a - b);
}
