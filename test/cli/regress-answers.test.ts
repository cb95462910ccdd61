import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { slate } from '../fixtures/slate.ts';

const FACTS = 'questions-knowledge-en.yaml';
// The last one says its number itself: only an answer that says it, too, passes.
const SET = `questions:
  - { id: leave, category: hr, ask: "How many days of annual leave do full-time employees have?", answer: ["28 days"] }
  - { id: leave-2023, category: hr, ask: "How many days of annual leave do full-time employees have?", validAt: 2023-06-01, answer: ["25 days"] }
  - { id: password, category: it, ask: "How many characters must a password have?", answer: ["14 characters"] }
  - { id: password-14, category: it, ask: "Must a password have 14 characters?", answer: ["14 characters"] }
`;

let platform: Platform;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slate-answers-'));
  await writeFile(join(dir, 'set.yaml'), SET);
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl') });
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

async function regress(...args: string[]) {
  const ran = await slate(
    platform,
    'regress',
    join(dir, 'set.yaml'),
    '--tenant',
    'acme',
    '--answers',
    '--json',
    ...args,
  );
  const report = JSON.parse(ran.stdout) as {
    counters: Record<string, number>;
    questions: { id: string; passed: boolean; why: string[] }[];
  };
  return { ...report, code: ran.code };
}

test('--answers: the workflow is asked at each question’s pin, and an answer whose number changed closes the gate', async () => {
  const client = await platform.client('acme');
  const text = await readFile(join(checkoutRoot, 'infra/samples', FACTS), 'utf8');
  await client.facts.import(parsePolicySet(text, FACTS));
  const first = await regress('--update');
  expect(first.questions.filter(({ passed }) => !passed)).toEqual([]);
  expect([first.code, first.counters]).toEqual([0, { stale: 0, foreign: 0, erased: 0, changed_number: 0 }]);

  const assertion = { subject: 'security.password', predicate: 'min_characters', value: '8', unit: 'characters' };
  await client.facts.add({
    knowledgeId: 'hb-password',
    statement: 'Passwords must have at least 8 characters.',
    assertion: { ...assertion, polarity: 'positive', modality: 'must' },
  });
  const spoiled = await regress();
  expect([spoiled.code, spoiled.counters['changed_number']]).toEqual([1, 1]);
  expect(spoiled.questions.map(({ id, why }) => [id, why])).toEqual([
    ['leave', []],
    ['leave-2023', []],
    ['password', [expect.stringMatching(/^the answer of task \S+ says another number than "14 characters"$/)]],
    ['password-14', [expect.stringMatching(/^the answer of task \S+ does not say "14 characters"$/)]],
  ]);
});
