import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@cleanslate/client';
import type { FactImport } from '@cleanslate/contracts';
import { Evidence } from '@cleanslate/domain';
import { checkoutRoot, findPinnedNode } from '@cleanslate/infra';
import { defineWorkflow } from '@cleanslate/runtime';
import { type Platform, type StandIn, startPlatform, startQdrantStandIn, startStandIn } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { show } from '../fixtures/scripted-platform.ts';
import { exampleOf } from '../sources/guide.ts';

const TOKEN = 'canary-of-the-crm-endpoint';
const ANSWER = z.strictObject({ evidence: z.array(Evidence) });
const retry = { maxAttempts: 2, baseMs: 50, maxMs: 100 };
const step = { role: 'retriever', retry } as const;
// As the guide has it.
const WORKFLOWS = [
  defineWorkflow({
    name: 'asking',
    input: z.strictObject({ question: z.string(), source: z.string(), params: z.record(z.string(), z.string()) }),
    steps: {
      ask: {
        ...step,
        executor: 'sources/query',
        input: { source: 'input.source', query: 'input.question', params: 'input.params', pin: 'pin' },
      },
    },
    result: 'steps.ask.output',
  }),
  defineWorkflow({
    name: 'listing',
    input: z.strictObject({}),
    result: 'steps.list.output',
    steps: { list: { ...step, executor: 'sources/list', input: {} } },
  }),
];

let folder: string;
let platform: Platform;
let crm: StandIn;
let qdrant: StandIn;
let acme: Client;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cleanslate-e2e-sources-'));
  await mkdir(join(folder, 'handbook'));
  await mkdir(join(folder, 'workflows'));
  await writeFile(join(folder, 'handbook/leave.md'), '# Leave\n\nParental leave lasts 16 weeks.\n');
  for (const { name, plan } of WORKFLOWS) await writeFile(join(folder, `workflows/${name}.json`), JSON.stringify(plan));
  crm = await startStandIn(({ headers }) =>
    headers.authorization === `Bearer ${TOKEN}`
      ? { json: { rows: [{ id: 7, text: 'Call Li at 13800138000.' }] } }
      : { status: 401, json: {} },
  );
  qdrant = await startQdrantStandIn({ collection: 'tickets', dimension: 384, points: [] });
  const yaml = `${exampleOf('files')}  - name: crm
    kind: http
    title: Customers
    tenants: [globex]
    url: ${crm.url}/rows?q={query}
    privateHosts: ["${crm.host}"]
    auth: { type: bearer, tokenFrom: CRM_TOKEN }
    params: [{ name: query, required: false, description: a customer }]
    items: /rows
    evidence: { content: "{/text}", locator: "rows/{/id}" }
`;
  const file = join(folder, 'sources.yaml');
  await writeFile(
    file,
    yaml +
      exampleOf('qdrant', { 'http://qdrant.search.svc:6333': qdrant.url, 'qdrant.search.svc': qdrant.host }).replace(
        'sources:\n',
        '',
      ),
  );
  env = { SOURCES_FILE: file, CRM_TOKEN: TOKEN, QDRANT_API_KEY: 'key-of-the-vectors' };
  platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['scheduler', 'gateway', 'knowledge-maintainer', 'retriever'],
    env: { ...env, WORKFLOWS_DIR: join(folder, 'workflows') },
    log: show,
  });
  acme = await platform.client('acme');
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  await Promise.all([
    crm[Symbol.asyncDispose](),
    qdrant[Symbol.asyncDispose](),
    rm(folder, { recursive: true, force: true }),
  ]);
});

async function ask(client: Client, source: string, question = 'how long is parental leave', params = {}) {
  const { taskId } = await client.submit({ workflow: 'asking', input: { question, source, params } });
  return await client.result(taskId);
}

describe('a step that asks a source', () => {
  it('gets evidence of a folder, through ledger, bus and worker', async () => {
    const task = await ask(acme, 'handbook');
    expect(task).toMatchObject({ state: 'completed' });
    expect(ANSWER.parse(task.result).evidence).toMatchObject([
      {
        content: '# Leave\n\nParental leave lasts 16 weeks.',
        locator: 'leave.md#L1-L3',
        source: 'handbook',
        accessLevel: 'internal',
      },
    ]);
  });

  it('gets facts of its own tenant at its pin, as they were governed', async () => {
    const fact = (knowledgeId: string, value: string, statement: string): FactImport => ({
      knowledgeId,
      subject: 'leave.parental',
      predicate: 'length',
      unit: 'weeks',
      tags: [],
      polarity: 'positive',
      modality: 'must',
      knowledgeType: 'rule',
      periods: [{ value, statement, validFrom: '2024-01-01T00:00:00.000Z', validUntil: null }],
    });
    const source = { sourceRef: 'hr/handbook', sourceType: 'human_confirmed' } as const;
    await acme.facts.import({
      ...source,
      facts: [fact('leave-parental', '16', 'Parental leave lasts sixteen weeks, at least.')],
    });
    const globex = await platform.client('globex');
    await globex.facts.import({ ...source, facts: [fact('leave-globex', '4', 'Parental leave lasts four weeks.')] });
    const { evidence } = ANSWER.parse((await ask(acme, 'knowledge')).result);
    expect(evidence).toMatchObject([
      {
        content: 'Parental leave lasts sixteen weeks, at least.',
        locator: 'leave-parental@1',
        version: 1,
        validFrom: '2024-01-01T00:00:00.000Z',
        source: 'knowledge',
      },
    ]);
    const before = await acme.submit({
      workflow: 'asking',
      input: { question: 'parental leave', source: 'knowledge', params: {} },
      validAt: '2023-06-01T00:00:00.000Z',
    });
    expect(ANSWER.parse((await acme.result(before.taskId)).result).evidence).toEqual([]);
  });

  it('sees what its tenant may ask; another one’s source is unknown to it, and never asked', async () => {
    const list = async (client: Client) => {
      const { taskId } = await client.submit({ workflow: 'listing', input: {} });
      const { result } = await client.result(taskId);
      return z
        .object({ sources: z.array(z.object({ name: z.string() })) })
        .parse(result)
        .sources.map(({ name }) => name);
    };
    const globex = await platform.client('globex');
    expect([await list(acme), await list(globex)]).toEqual([
      ['knowledge', 'handbook', 'tickets'],
      ['knowledge', 'handbook', 'crm', 'tickets'],
    ]);
    const refused = await ask(acme, 'crm');
    expect(refused).toMatchObject({ state: 'failed', error: { code: 'SOURCE_UNKNOWN' } });
    expect(crm.requests).toEqual([]);
    const { evidence } = ANSWER.parse((await ask(globex, 'crm')).result);
    expect(evidence).toMatchObject([{ locator: 'rows/7' }]);
    expect(evidence[0]?.content).not.toContain('13800138000');
  });

  it('whose source is away is tried again, then fails by its name; the token is nowhere, and the other sources answer', async () => {
    const globex = await platform.client('globex');
    crm.misbehave('error');
    const asked = crm.requests.length;
    expect(await ask(globex, 'crm')).toMatchObject({
      state: 'failed',
      error: { details: { last: { code: 'SOURCE_UNAVAILABLE', details: { source: 'crm' } } } },
    });
    expect(crm.requests.length - asked).toBe(retry.maxAttempts);
    crm.misbehave(null);
    expect(await ask(globex, 'handbook')).toMatchObject({ state: 'completed' });
    const service = platform.service('retriever');
    const metrics = await (await fetch(`${service.healthUrl}/metrics`)).text();
    expect(metrics).toMatch(/slate_source_questions_total\{[^}]*source="crm",outcome="SOURCE_UNAVAILABLE"[^}]*\} 2/);
    expect(metrics).toMatch(/slate_source_open\{[^}]*source="crm"[^}]*\} 0/);
    const letters = await platform.database.sql('SELECT row_to_json(l)::text AS row FROM ledger.dead_letters l');
    expect(letters.length).toBeGreaterThan(0);
    expect(JSON.stringify([letters, service.lastLines(500)])).not.toContain(TOKEN);
  });
});

describe('--check-sources', () => {
  const entry = join(checkoutRoot, 'services/retriever/src/main.ts');
  const check = async (given: Record<string, string>) => {
    const child = spawn(findPinnedNode(), [entry, '--check-sources'], { env: { PATH: process.env['PATH'], ...given } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const [code] = await once(child, 'close');
    return { code, output };
  };

  it('asks each one, and ends with 0 where all are there and 1 where one is not', async () => {
    const good = await check({ ...env, DATABASE_URL: platform.database.urlOf('cleanslate_retriever') });
    expect(good.output).toMatch(
      /ok +knowledge .*revision \d+\nok +handbook \(files\): 1 files, 1 passages\nok +crm .*\nok +tickets \(qdrant\): collection tickets, 0 points\n/,
    );
    expect(good.code).toBe(0);
    crm.misbehave('forbidden');
    const bad = await check(env);
    crm.misbehave(null);
    expect([bad.code, bad.output]).toEqual([
      1,
      expect.stringMatching(/failed +crm \(http\): SOURCE_FORBIDDEN: .*credentials/),
    ]);
    expect(good.output + bad.output).not.toContain(TOKEN);
  });

  it('ends with 2 where a variable is missing or the file is wrong, naming it; a retriever does not start with it', async () => {
    const file = join(folder, 'wrong.yaml');
    await writeFile(file, 'sources:\n  - { name: a, kind: files, title: A, folder: x, timeoutMs: soon }\n');
    const wrong = await check({ ...env, SOURCES_FILE: file });
    expect([wrong.code, wrong.output]).toEqual([
      2,
      expect.stringMatching(/wrong\.yaml:2 \(sources\.0\.timeoutMs\): must be a whole number/),
    ]);
    const { code, output } = await check({ SOURCES_FILE: env['SOURCES_FILE'] ?? '' });
    expect([code, output]).toEqual([2, expect.stringContaining('CRM_TOKEN, which is not set')]);
    await expect(platform.start('retriever', { SOURCES_FILE: file })).rejects.toThrow(/timeoutMs/);
  });
});
