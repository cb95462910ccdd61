import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StandIn, startStandIn } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toSourcesEnvironment } from '../../packages/cli/src/input/sources-file.ts';
import { json, slate } from './slate.ts';

let folder: string;
let crm: StandIn;
let env: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cleanslate-cli-sources-'));
  crm = await startStandIn(({ url, headers }) => ({
    json: { rows: [{ id: url.searchParams.get('n'), text: `as ${headers.authorization}` }] },
  }));
  await mkdir(join(folder, 'docs'));
  await writeFile(join(folder, 'docs/leave.md'), '# Leave\n\nParental leave lasts 16 weeks.\n');
  const file = join(folder, 'sources.yaml');
  await writeFile(
    file,
    `sources:
  - { name: handbook, kind: files, title: The handbook, folder: docs }
  - name: crm
    kind: http
    title: Customers
    url: ${crm.url}/rows?n={number}
    privateHosts: ["${crm.host}"]
    auth: { type: bearer, tokenFrom: CRM_TOKEN }
    params: [{ name: number, type: integer, description: a number }]
    items: /rows
    accessLevel: restricted
    evidence: { content: "row {/id}", locator: "rows/{/id}" }
`,
  );
  env = { SOURCES_FILE: file, CRM_TOKEN: 'canary-of-the-crm' };
});
afterAll(async () => {
  await crm[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('slate source list, check and ask show what an agent would get', async () => {
  const [listed, checked, asked] = await Promise.all([
    slate(['source', 'list'], env),
    slate(['source', 'check'], env),
    slate(['source', 'ask', 'handbook', 'how', 'long', 'is', 'parental', 'leave', '--json'], env),
  ]);
  expect(listed.stdout).toMatch(
    /handbook +files +internal +query \[path\] +The handbook\ncrm +http +restricted +number/,
  );
  expect([checked.code, checked.stdout]).toEqual([
    0,
    expect.stringContaining('ok      handbook (files): 1 files, 1 passages'),
  ]);
  expect(json<{ evidence: unknown[] }>(asked).evidence).toMatchObject([
    { locator: 'leave.md#L1-L3', source: 'handbook' },
  ]);
});

test('slate source ask gives parameters their type, and respects what the reader is cleared for', async () => {
  const ask = (...more: string[]) => slate(['source', 'ask', 'crm', '--param', ...more], env);
  const [cleared, refused, wrong] = await Promise.all([
    ask('number=7', '--clearance', 'restricted'),
    ask('number=7'),
    ask('number=many', '--clearance', 'restricted'),
  ]);
  expect([cleared.code, cleared.stdout]).toEqual([0, expect.stringContaining('rows/7')]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('SOURCE_FORBIDDEN')]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('params.number: must be a whole number')]);
});

test('slate source check ends with 1 where one is away; a wrong file and a missing variable with 2, by their names', async () => {
  crm.misbehave('cut');
  const away = await slate(['source', 'check', '--json'], env);
  crm.misbehave(null);
  expect([away.code, json(away)]).toMatchObject([
    1,
    {
      sources: [
        { name: 'handbook', ok: true },
        { name: 'crm', ok: false },
      ],
    },
  ]);
  const missing = await slate(['source', 'check'], { SOURCES_FILE: env['SOURCES_FILE'] ?? '' });
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('CRM_TOKEN, which is not set')]);
  const nothing = await slate(['source', 'list'], {});
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('set SOURCES_FILE')]);
});

test('the retriever of a local stack gets the file and the variables that it names, and no others', async () => {
  expect(await toSourcesEnvironment({ ...env, OTHER_TOKEN: 'x' })).toEqual(env);
  expect(await toSourcesEnvironment({ OTHER_TOKEN: 'x' })).toEqual({});
  await expect(toSourcesEnvironment({ SOURCES_FILE: join(folder, 'nowhere.yaml') })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  });
});
