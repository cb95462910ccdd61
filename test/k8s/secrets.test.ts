import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_IN_ROLES } from '@cleanslate/contracts';
import { checkoutRoot, SEMI_SPACE_MB } from '@cleanslate/infra';
import { SERVICE_NAMES } from '@cleanslate/testing';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { json, slate } from '../cli/slate.ts';
import { findModelFaults } from './models.ts';
import { podsOf } from './pods.ts';
import { type Manifest, OVERLAYS } from './render.ts';

const home = mkdtempSync(join(tmpdir(), 'cleanslate-secrets-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const env = { CLEANSLATE_HOME: home };

const Keys = z.looseObject({ apiKeys: z.object({ acme: z.string() }) });
type Secret = Manifest & { readonly stringData: Readonly<Record<string, string>> };

test('`slate secrets kubernetes` makes each Secret and key that the manifests refer to, the same each time, and no more', async () => {
  const args = [
    'secrets',
    'kubernetes',
    '--database-url',
    'postgres://postgres:ad%2Fmin@timescaledb:5432/cleanslate',
    '-t',
    'acme',
  ];
  const ran = await slate(args, env);
  expect([ran.code, (await slate(args, env)).stdout]).toEqual([0, ran.stdout]);
  const { items } = json<{ items: readonly Secret[] }>(ran);
  expect(items.flatMap((item) => findModelFaults(item))).toEqual([]);
  const made = new Map(items.map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData)]));
  const wanted = new Set<string>();
  for (const folder of OVERLAYS) {
    for (const { container, pod } of podsOf(folder)) {
      const keys = container.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
      const files = pod.volumes.flatMap(({ secret }) => (secret ? [secret] : []));
      for (const { name, key } of keys) expect([name, made.get(name)]).toEqual([name, expect.arrayContaining([key])]);
      for (const { secretName, items = [] } of files)
        for (const { key } of items)
          expect([secretName, made.get(secretName)]).toEqual([secretName, expect.arrayContaining([key])]);
      for (const name of [...keys.map(({ name }) => name), ...files.map(({ secretName }) => secretName)])
        wanted.add(name);
    }
  }
  expect([...made.keys()].sort()).toEqual([...wanted].sort());
});

test('each service is told its own password and nobody else’s', async () => {
  const ran = await slate(['secrets', 'kubernetes', '--database-url', 'postgres://postgres:admin@db/x'], env);
  const { items } = json<{ items: readonly Secret[] }>(ran);
  const passwords = items.flatMap(({ stringData }) => stringData['nats-password'] ?? []);
  expect(new Set(passwords).size).toBe(SERVICE_NAMES.length);
  for (const { metadata, stringData } of items) {
    if (metadata.name === 'nats-auth') continue;
    const told = passwords.filter((password) => JSON.stringify(stringData).includes(password));
    expect([metadata.name, told]).toEqual([metadata.name, [stringData['nats-password']].filter(Boolean)]);
  }
});

test('API keys are told to nobody; the migration is told their hashes, to register them where they can be revoked', async () => {
  const ran = await slate(['secrets', 'kubernetes', '--database-url', 'postgres://x:y@db/x', '-t', 'acme'], env);
  const { items } = json<{ items: readonly Secret[] }>(ran);
  const { apiKeys } = Keys.parse(JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')));
  const hash = createHash('sha256').update(apiKeys.acme).digest('hex');
  const knowing = (what: string) =>
    items.filter((item) => JSON.stringify(item).includes(what)).map(({ metadata }) => metadata.name);
  expect([knowing(apiKeys.acme), knowing(hash)]).toEqual([[], ['cleanslate-migrate']]);
  const migrate = items.find(({ metadata }) => metadata.name === 'cleanslate-migrate');
  expect(JSON.parse(migrate?.stringData['credentials.json'] ?? '')).toMatchObject({
    apiKeyHashes: { acme: hash },
  });
});
test('the key of an embedding server is told to the three services that ask it, in Compose, too', async () => {
  const key = { ...env, EMBEDDING_API_KEY: 'canary-of-the-embedding-server' };
  const ran = await slate(['secrets', 'kubernetes', '--database-url', 'postgres://x:y@db/x'], key);
  const { items } = json<{ items: readonly Secret[] }>(ran);
  const told = items.filter((item) => JSON.stringify(item).includes(key.EMBEDDING_API_KEY));
  expect(told.map(({ metadata, stringData }) => [metadata.name, stringData['embedding-api-key']])).toEqual([
    ['cleanslate-knowledge-maintainer', key.EMBEDDING_API_KEY],
    ['cleanslate-gateway', key.EMBEDDING_API_KEY],
    ['cleanslate-retriever', key.EMBEDDING_API_KEY],
  ]);
  expect((await slate(['secrets', 'compose'], key)).code).toBe(0);
  for (const name of ['gateway', 'knowledge-maintainer', 'retriever'])
    expect(readFileSync(join(home, 'compose', `cleanslate-${name}.env`), 'utf8')).toContain(
      `EMBEDDING_API_KEY=${key.EMBEDDING_API_KEY}\n`,
    );
});

test('the key of the model that agents ask is told to workers, and to nobody else', async () => {
  const key = { ...env, MODEL_API_KEY: 'canary-of-the-model-server' };
  const ran = await slate(['secrets', 'kubernetes', '--database-url', 'postgres://x:y@db/x'], key);
  const { items } = json<{ items: readonly Secret[] }>(ran);
  const told = items.filter((item) => JSON.stringify(item).includes(key.MODEL_API_KEY));
  expect(told.map(({ metadata }) => metadata.name).sort()).toEqual(
    BUILT_IN_ROLES.map((role) => `cleanslate-${role}`).sort(),
  );
  expect(new Set(told.map(({ stringData }) => stringData['model-api-key']))).toEqual(new Set([key.MODEL_API_KEY]));
});

test('a database URL without a password is refused before anything is made', async () => {
  const other = join(home, 'other');
  const ran = await slate(['secrets', 'kubernetes', '--database-url', 'postgres://db/x'], { CLEANSLATE_HOME: other });
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('postgres://user:password@host:5432/database')]);
  expect(existsSync(other)).toBe(false);
});

test('`slate secrets compose` writes every file that infra/compose.yaml reads; it runs each service, read-only and without capabilities', async () => {
  const ran = await slate(['secrets', 'compose'], env);
  expect(ran).toMatchObject({ code: 0, stdout: `${join(home, 'compose')}\n` });
  const text = readFileSync(join(checkoutRoot, 'infra/compose.yaml'), 'utf8');
  const Service = z.looseObject({
    image: z.string(),
    command: z.array(z.string()),
    read_only: z.boolean().default(false),
    cap_drop: z.array(z.string()).default([]),
    env_file: z.array(z.string()).default([]),
    volumes: z.array(z.string()).default([]),
    environment: z.record(z.string(), z.string()).default({}),
  });
  const { services } = z.looseObject({ services: z.record(z.string(), Service) }).parse(parse(text, { merge: true }));
  const folder = /^\$\{CLEANSLATE_COMPOSE:-[^}]+\}/;
  for (const [name, { env_file, volumes }] of Object.entries(services)) {
    const mounted = volumes.map((each) => each.replace(/:[^:]+(:ro)?$/, '')).filter((each) => folder.test(each));
    for (const path of [...env_file, ...mounted])
      expect([name, path, existsSync(path.replace(folder, join(home, 'compose')))]).toEqual([name, path, true]);
  }
  for (const name of SERVICE_NAMES) {
    expect(services[name]).toMatchObject({ command: [name], read_only: true, cap_drop: ['ALL'] });
    const room = `--max-semi-space-size=${SEMI_SPACE_MB} `;
    expect(services[name]?.environment).toMatchObject({
      NATS_URL: expect.any(String),
      MALLOC_ARENA_MAX: '2',
      NODE_OPTIONS: expect.stringContaining(room),
    });
  }
  expect(Object.keys(services).sort()).toEqual([...SERVICE_NAMES, 'nats', 'timescaledb', 'migrate', 'topology'].sort());
});
