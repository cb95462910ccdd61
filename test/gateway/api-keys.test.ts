import { type Database, openDatabase, putApiKey } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { type ApiKeys, openApiKeys } from '../../services/gateway/src/http/api-keys.ts';

const ADDRESS = '203.0.113.1';
const goodKeys = Array.from({ length: 100 }, (_, n) => `csk_good_${n}`);
let testDatabase: TestDatabase;
let database: Database;
let keys: ApiKeys;
beforeAll(async () => {
  testDatabase = await createTestDatabase(inject('postgresAdminUrl'));
  for (const key of goodKeys) await putApiKey(testDatabase.adminUrl, 'acme', key);
  database = openDatabase({ url: testDatabase.urlOf('cleanslate_gateway'), applicationName: 'test' });
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  keys = openApiKeys(database);
});

const tenantOf = async (key: string, address = ADDRESS) => (await keys.authenticate(key, address)).tenantId;
const codes = (answers: readonly PromiseSettledResult<string>[]) =>
  answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason.code)));
const count = (all: readonly string[], wanted: string) => all.filter((each) => each === wanted).length;

test('a hundred first requests at once with one good key are all let in', async () => {
  const answers = await Promise.allSettled(goodKeys.map(() => tenantOf('csk_good_0')));
  expect(count(codes(answers), 'acme')).toBe(100);
});

test('a hundred good keys of one address, as behind a proxy, are all let in at once', async () => {
  const answers = await Promise.allSettled(goodKeys.map((key) => tenantOf(key)));
  expect(count(codes(answers), 'acme')).toBe(100);
});

test('guesses of one address are refused after the first; elsewhere, and for keys in use, nothing changes', async () => {
  expect(await tenantOf('csk_good_0')).toBe('acme');
  const answers = codes(await Promise.allSettled(Array.from({ length: 300 }, (_, n) => tenantOf(`csk_bad_${n}`))));
  expect(count(answers, 'UNAUTHORIZED')).toBeGreaterThanOrEqual(50);
  // Whatever a slow machine let drip in meanwhile, most of them came at once.
  expect(count(answers, 'RATE_LIMITED')).toBeGreaterThan(100);
  expect(await tenantOf('csk_good_0')).toBe('acme');
  expect(await tenantOf('csk_good_1', '203.0.113.2')).toBe('acme');
});
