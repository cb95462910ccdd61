import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { show } from '../fixtures/scripted-platform.ts';
import { slate } from '../fixtures/slate.ts';

// What people do about knowledge, from the command line: who is hit by a fact, take it back and run again, say that an
// answer was wrong, take it all out.

const FACT = 'hl-payment-term-max';
const sample = (name: string) => readFileSync(new URL(`../../infra/samples/${name}`, import.meta.url), 'utf8');

let platform: Platform;
let folder: string;
const tasks: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'governance-'));
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), log: show });
  const client = await platform.client('acme');
  await client.facts.import(parsePolicySet(sample('policies-en.yaml')));
  for (const key of ['one', 'two']) {
    const document = { name: `${key}.md`, mediaType: 'text/markdown', text: `${sample('contract-en.md')}\n${key}\n` };
    const { taskId } = await client.submit({ workflow: 'contract-review', key, input: { document } });
    expect((await client.result(taskId)).state).toBe('completed');
    tasks.push(taskId);
  }
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function run<T>(...args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await slate(platform, ...args, '--tenant', 'acme', '--json');
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout) as T;
}

type Impact = { answers: { taskId: string; restsOn: string }[]; readers: { taskId: string }[] };
/** Answers are in the graph once their task's settlement is confirmed. */
const impactOf = (fact: string) =>
  vi.waitFor(
    async () => {
      const impact = await run<Impact>('fact', 'impact', fact);
      expect(impact.answers.map(({ taskId }) => taskId).sort()).toEqual([...tasks].sort());
      return impact;
    },
    { timeout: 60_000, interval: 200 },
  );

test('feedback on an answer moves the weight of its facts once for each person, and reviews show it', async () => {
  const { answers } = await impactOf(FACT);
  const [cited = ''] = answers.map(({ restsOn }) => restsOn);
  const [taskId = ''] = tasks;
  type Feedback = {
    counted: boolean;
    facts: { fact: string; weight: number; weightBefore: number }[];
    reviews: number[];
  };
  const say = (by: string) =>
    run<Feedback>('task', 'feedback', taskId, '--wrong', '--note', 'repealed in May', '--by', by);
  const first = await say('maria');
  expect(first.facts.find(({ fact }) => fact === cited)).toMatchObject({ weightBefore: 1, weight: 0.8 });
  expect((await say('maria')).counted).toBe(false);
  const { reviews } = await run<{
    reviews: { reviewId: number; fact: string; wrong: number; said: { note: string }[] }[];
  }>('fact', 'reviews', FACT);
  expect(reviews).toMatchObject([{ fact: cited, wrong: 1, said: [{ by: 'maria', note: 'repealed in May' }] }]);
  const reviewId = String(reviews[0]?.reviewId);
  await run('fact', 'review', reviewId, '--reason', 'still in force', '--by', 'li', '--restore-weight');
  expect((await run<{ fact: { weight: number } }>('fact', 'get', FACT)).fact.weight).toBe(1);
  const closed = await slate(platform, 'fact', 'review', reviewId, '--reason', 'again', '--tenant', 'acme');
  expect([closed.code === 0, closed.stderr]).toEqual([false, expect.stringContaining('closed already')]);
});

test('export writes pairs and facts in one order, and goes on where it was broken off', async () => {
  const whole = join(folder, 'pairs.jsonl');
  const { lines } = await run<{ lines: number }>('export', 'pairs', '--out', whole);
  const text = await readFile(whole, 'utf8');
  const pairs = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(pairs).toHaveLength(lines);
  expect(lines).toBeGreaterThan(3);
  expect(pairs[0]).toMatchObject({
    decision: expect.any(String),
    raw: expect.any(String),
    rawSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const seqs = pairs.map(({ seq }) => Number(seq));
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  const broken = join(folder, 'broken.jsonl');
  await writeFile(broken, text.slice(0, text.indexOf('\n') + 20));
  await run('export', 'pairs', '--out', broken, '--resume');
  expect(await readFile(broken, 'utf8')).toBe(text);
  const facts = join(folder, 'facts.jsonl');
  await run('export', 'facts', '--out', facts);
  const ids = (await readFile(facts, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { knowledgeId: string }).knowledgeId);
  expect(ids).toContain(FACT);
  expect(ids).toEqual([...ids].sort());
  const again = await slate(platform, 'export', 'facts', '--out', facts, '--tenant', 'acme');
  expect([again.code === 0, again.stderr]).toEqual([false, expect.stringContaining('is there already')]);
});

test('a fact is taken back and every task whose answer rests on it runs again, once however often that is asked for', async () => {
  await impactOf(FACT);
  const ask = ['fact', 'retract', FACT, '--reason', 'misread', '--rerun', '--rate', '50', '--tenant', 'acme', '--json'];
  const dry = await slate(platform, ...ask, '--dry-run');
  expect((JSON.parse(dry.stdout) as { tasks: string[] }).tasks.sort()).toEqual([...tasks].sort());
  expect((await run<{ fact: { knowledgeId: string } }>('fact', 'get', FACT)).fact.knowledgeId).toBe(FACT);
  const lineage = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { from: string; to: string; state: string })
      .sort((a, b) => a.from.localeCompare(b.from));
  const first = await slate(platform, ...ask);
  const reruns = lineage(first.stdout);
  expect(reruns.map(({ from, state }) => [from, state])).toEqual([...tasks].sort().map((task) => [task, 'completed']));
  const second = await slate(platform, ...ask);
  expect(lineage(second.stdout)).toEqual(reruns);
  const client = await platform.client('acme');
  expect((await client.tasks({ limit: 50 })).tasks).toHaveLength(4);
  for (const { from, to } of reruns) {
    const [before, after] = [await client.task(from), await client.task(to)];
    expect(after.pin.revision).toBeGreaterThan(before.pin.revision);
    expect(JSON.stringify(after.result)).not.toContain(`${FACT}@`);
  }
});

test('all that one task contributed is taken back in one revision', async () => {
  const [taskId = ''] = tasks;
  const dry = await run<{ closed: string[]; revision: number }>(
    'fact',
    'retract',
    '--task',
    taskId,
    '--reason',
    'wrong scan',
    '--dry-run',
  );
  const done = await run<{ closed: string[]; revision: number }>(
    'fact',
    'retract',
    '--task',
    taskId,
    '--reason',
    'wrong scan',
  );
  expect(done.closed).toEqual(dry.closed);
  const none = await slate(platform, 'fact', 'retract', '--reason', 'x', '--tenant', 'acme');
  expect([none.code === 0, none.stderr]).toEqual([false, expect.stringContaining('not named')]);
});

test('doctor says whether a redaction was ever confirmed', async () => {
  const look = async () => {
    const { stdout } = await slate(platform, 'doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; found: string }[] };
    return checks.find(({ name }) => name === 'redactions');
  };
  expect(await look()).toMatchObject({ state: 'ok' });
  await platform.service('scheduler').stop();
  const redact = ['fact', 'redact', 'hl-payment-term-required', '--reason', 'ticket 9', '--by', 'maria'];
  expect(await run(...redact)).toMatchObject({ dryRun: true, redactionId: null });
  expect(await run(...redact, '--yes')).toMatchObject({ dryRun: false });
  expect(await look()).toMatchObject({ state: 'warn' });
  await platform.database.sql(`UPDATE knowledge.redactions SET redacted_at = redacted_at - interval '1 hour'`);
  expect(await look()).toMatchObject({ state: 'fail' });
  const { redactions } = await run<{ redactions: { state: string }[] }>('fact', 'redactions', '--open');
  expect(redactions).toMatchObject([{ state: 'erasing' }]);
});
