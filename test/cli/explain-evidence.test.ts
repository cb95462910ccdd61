import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { slate } from '../fixtures/slate.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl') });
});
afterAll(() => platform?.[Symbol.asyncDispose]());

const sample = (name: string) => readFile(join(checkoutRoot, 'infra/samples', name), 'utf8');
type Cited = { ref: string; found: boolean; sourceRef: string; heldAtPin: boolean; statement: string };

test('from a finding to its passage, to the fact version, to that fact’s source', async () => {
  const client = await platform.client('acme');
  const set = parsePolicySet(await sample('policies-en.yaml'));
  await client.facts.import(set);
  const text = await sample('contract-en.md');
  const input = { document: { name: 'contract-en.md', mediaType: 'text/markdown', text } };
  const { taskId } = await client.submit({ workflow: 'contract-review', input });
  await client.result(taskId);
  const { stdout } = await slate(platform, 'task', 'explain', taskId, '--tenant', 'acme', '--json');
  const { evidence, why } = JSON.parse(stdout) as {
    why: { because: string };
    evidence: { passages: { quote: string; start: number; end: number }[]; facts: Cited[] };
  };
  expect(why.because).toMatch(/^all \d+ steps ended/);
  expect(evidence.passages.length).toBeGreaterThan(0);
  // Not taken from the report: each passage stands in the document where it is said to.
  for (const { quote, start, end } of evidence.passages) expect(text.slice(start, end)).toBe(quote);
  expect(evidence.facts.length).toBeGreaterThan(0);
  for (const fact of evidence.facts) {
    expect(fact).toMatchObject({ found: true, heldAtPin: true, sourceRef: expect.stringContaining(set.sourceRef) });
    const [knowledgeId = '', version] = fact.ref.split('@');
    const { versions } = await client.facts.history(knowledgeId);
    expect(versions.find((each) => each.version === Number(version))?.statement).toBe(fact.statement);
  }
  const plain = await slate(platform, 'task', 'explain', taskId, '--tenant', 'acme');
  expect(plain.stdout).toContain('EVIDENCE');
  expect(plain.stdout).toContain(`source ${set.sourceRef}`);
});

test('an answer whose policy changed says so wherever it is shown, until the policy is as it was', async () => {
  const client = await platform.client('acme');
  const text = await sample('contract-en.md');
  const input = { document: { name: 'doubt.md', mediaType: 'text/markdown', text } };
  const { taskId } = await client.submit({ workflow: 'contract-review', input });
  await client.result(taskId);
  const doubts = async () => (await client.task(taskId)).marks?.map(({ cause, kind }) => `${cause} ${kind}`) ?? [];
  const set = parsePolicySet(await sample('policies-en.yaml'));
  const facts = set.facts.filter(({ knowledgeId }) => knowledgeId === 'hl-late-rate-max');
  const changed = facts.map((fact) => ({
    ...fact,
    periods: fact.periods.map((period) => ({
      ...period,
      ...(period.validUntil === null ? { value: '7', statement: 'Late payment interest is at most 7% a year.' } : {}),
    })),
  }));
  const recorded = () =>
    platform.database.sql<{ n: number }>('SELECT count(*)::int AS n FROM knowledge.answers WHERE task_id = $1', [
      taskId,
    ]);
  await vi.waitFor(async () => expect(await recorded()).toEqual([{ n: 1 }]), { timeout: 60_000, interval: 50 });
  expect(await doubts()).toEqual([]);
  await client.facts.import({ ...set, facts: changed });
  expect(await doubts()).toEqual([expect.stringMatching(/^hl-late-rate-max@\d+ superseded$/)]);
  for (const command of ['show', 'explain']) {
    const { stdout } = await slate(platform, 'task', command, taskId, '--tenant', 'acme');
    expect(stdout).toMatch(/in doubt +it rests on hl-late-rate-max@\d+, superseded/);
  }
  await client.facts.import({ ...set, facts });
  expect(await doubts()).toEqual([]);
});
