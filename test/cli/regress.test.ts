import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { slate } from '../fixtures/slate.ts';

const SET = join(checkoutRoot, 'infra/samples/regress.yaml');
type Report = {
  failed: boolean;
  counters: Record<string, number>;
  categories: { category: string; passed: number; asked: number; dropped: boolean; p: number | null }[];
  questions: { id: string; passed: boolean; why: string[] }[];
};

let platform: Platform;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slate-regress-'));
  platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['knowledge-maintainer', 'gateway'],
  });
  const client = await platform.client('acme');
  for (const name of ['policies-en.yaml', 'policies-zh.yaml']) await client.facts.import(await policies(name));
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const policies = async (name: string) =>
  parsePolicySet(await readFile(join(checkoutRoot, 'infra/samples', name)), name);

async function regress(...args: string[]): Promise<Report & { code: number }> {
  const baseline = join(dir, 'baseline.json');
  const ran = await slate(platform, 'regress', SET, '--baseline', baseline, '--tenant', 'acme', '--json', ...args);
  return { ...(JSON.parse(ran.stdout) as Report), code: ran.code };
}

test('the shipped set is answered, and a change that keeps every answer keeps the gate open', async () => {
  const first = await regress('--update');
  expect(first.questions.filter(({ passed }) => !passed)).toEqual([]);
  expect([first.code, first.counters]).toEqual([0, { stale: 0, foreign: 0, erased: 0, changed_number: 0 }]);
  const client = await platform.client('acme');
  await client.facts.add({ statement: 'The canteen opens at noon.' });
  const again = await regress();
  expect([again.code, again.categories.map(({ dropped }) => dropped)]).toEqual([0, [false, false, false]]);
});

test('a number that changed fails at once, though its category did not drop; so does erased text that turns up', async () => {
  const client = await platform.client('acme');
  const { facts } = await policies('policies-en.yaml');
  const change = (value: string) => {
    const statement = `Interest on late payments should be at least ${value}% per year.`;
    const changed = facts
      .filter(({ knowledgeId }) => knowledgeId === 'hl-late-rate-min')
      .map((fact) => ({ ...fact, periods: fact.periods.map((period) => ({ ...period, value, statement })) }));
    return client.facts.import({ sourceRef: 'handbook', sourceType: 'human_confirmed', facts: changed });
  };
  await change('7');
  const changed = await regress();
  expect([changed.code, changed.counters['changed_number']]).toEqual([1, 1]);
  expect(changed.categories.some(({ dropped }) => dropped)).toBe(false);
  expect(changed.questions.find(({ id }) => id === 'interest-least')?.why).toEqual([
    expect.stringMatching(/^hl-late-rate-min@2 says 7, not 6$/),
  ]);
  await change('6');
  expect((await regress()).code).toBe(0);
  const own = join(dir, 'erased.yaml');
  await writeFile(
    own,
    'erased: [ceiling]\nquestions:\n  - { id: cap, category: c, ask: liability ceiling, expect: [hl-liability-cap-required] }\n',
  );
  const ran = await slate(platform, 'regress', own, '--tenant', 'acme', '--json');
  expect([ran.code, (JSON.parse(ran.stdout) as Report).counters['erased']]).toEqual([1, 1]);
});

test('a category that lost most of its answers has dropped; a lost answer or two may be chance', async () => {
  const client = await platform.client('acme');
  const retract = (knowledgeId: string) => client.facts.retract({ knowledgeId, reason: 'a test' });
  await retract('qh-liability-cap-required');
  const one = await regress();
  expect(one.categories.find(({ category }) => category === 'zh')).toMatchObject({
    passed: 7,
    asked: 8,
    dropped: false,
  });
  expect(one.code).toBe(0);
  for (const id of ['qh-payment-term-min', 'qh-payment-term-required', 'qh-late-rate-max', 'qh-late-rate-required'])
    await retract(id);
  const many = await regress();
  expect(many.categories.map(({ category, dropped }) => [category, dropped])).toEqual([
    ['now', false],
    ['then', false],
    ['zh', true],
  ]);
  expect([many.code, many.failed, Object.values(many.counters)]).toEqual([1, true, [0, 0, 0, 0]]);
});

test('a set or a baseline that can not be used is refused with its line and the way out', async () => {
  const own = join(dir, 'bad.yaml');
  const refusal = async (text: string, ...args: string[]) => {
    await writeFile(own, text);
    const { code, stderr } = await slate(platform, 'regress', own, '--tenant', 'acme', ...args);
    return [code, stderr] as const;
  };
  const question = '  - { id: a, category: c, ask: x, expect: [y] }\n';
  expect(await refusal(`questions:\n${question}${question}`)).toEqual([
    2,
    expect.stringMatching(/stands there twice.*bad\.yaml:3/s),
  ]);
  expect(await refusal('questions:\n  - { id: a, category: c, ask: x }\n')).toEqual([
    2,
    expect.stringContaining('says nothing that could fail'),
  ]);
  expect(await refusal(`questions:\n${question}`, '--baseline', join(dir, 'none.json'))).toEqual([
    2,
    expect.stringContaining('make it with --update'),
  ]);
  await writeFile(join(dir, 'odd.json'), '{}');
  expect(await refusal(`questions:\n${question}`, '--baseline', join(dir, 'odd.json'))).toEqual([
    2,
    expect.stringContaining('no baseline of this command'),
  ]);
});
