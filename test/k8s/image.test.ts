import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layOutImage } from '@cleanslate/infra';
import { rotateApiKey } from '@cleanslate/store';
import { type Platform, SERVICE_NAMES, startPlatform } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { show } from '../fixtures/scripted-platform.ts';

// What the image holds, without an engine: the bundles, laid out and started as the Dockerfile does it.

let app: string;
let platform: Platform;
beforeAll(async () => {
  app = mkdtempSync(join(tmpdir(), 'cleanslate-image-'));
  await layOutImage(app);
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services: [], log: show });
}, 240_000);
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  rmSync(app, { recursive: true, force: true });
});

test('F6: every service of the image starts, works, and says "shutdown complete" on SIGTERM, with exit code 0', async () => {
  const services = await Promise.all(SERVICE_NAMES.map((name) => platform.start(name, {}, entryOf(name))));
  const client = await platform.client();
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });
  expect((await client.result(taskId)).state).toBe('completed');
  for (const service of services) {
    expect([service.name, await service.stop(20_000)]).toEqual([service.name, { code: 0, signal: null }]);
    expect(service.lastLines(5).join('\n'), service.name).toContain('shutdown complete');
  }
}, 240_000);

test('a scheduler keeps the text of its code at one byte a character: one beyond Latin-1 would double its whole file', () => {
  const files = loadedBy('scheduler.mjs');
  expect(files.size).toBeGreaterThan(5);
  for (const [file, text] of files) expect([file, /[\u0100-\uffff]/.exec(text)?.[0]]).toEqual([file, undefined]);
});

test('anything but a service is the command line: it brings the migrations, and registers the tenants it is told of, with their first key', async () => {
  const home = join(app, 'home');
  mkdirSync(home);
  // As the Job of the manifests gets it; without passwords of roles, which this server's other databases share.
  const credentials = { nats: {}, database: {}, apiKeys: {}, apiKeyHashes: { newcomer: sha256('csk_first') } };
  writeFileSync(join(home, 'credentials.json'), JSON.stringify(credentials));
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [join(app, 'dist/run.mjs'), ...args], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env['PATH'], DATABASE_URL: platform.database.adminUrl, CLEANSLATE_HOME: home },
    });
  expect(run('--help')).toContain('Usage: slate');
  expect(run('migrate', '--dry-run')).toBe('nothing is missing\n');
  expect(run('migrate')).toContain('tenant   newcomer');
  const known = await platform.database.sql(`SELECT FROM ledger.tenants WHERE tenant_id = 'newcomer'`);
  expect(known).toHaveLength(1);
  const hashes = async () =>
    platform.database.sql(
      `SELECT encode(hash, 'hex') AS hash, revoked_at IS NULL AS good FROM auth.api_keys WHERE tenant_id = 'newcomer'`,
    );
  expect(await hashes()).toEqual([{ hash: sha256('csk_first'), good: true }]);
  // A rotated key stays revoked, however often the Job runs with the Secret of that time.
  await rotateApiKey(platform.database.adminUrl, 'newcomer', 0);
  run('migrate');
  expect(await hashes()).toEqual(
    expect.arrayContaining([
      { hash: sha256('csk_first'), good: false },
      { hash: expect.not.stringMatching(sha256('csk_first')), good: true },
    ]),
  );
}, 240_000);

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A bundle with all that it imports at its start: name → text. */
function loadedBy(file: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(file)) return found;
  const text = readFileSync(join(app, 'dist', file), 'utf8');
  found.set(file, text);
  for (const [, name = ''] of text.matchAll(/(?:from|import) "\.\/([^"]+)"/g)) loadedBy(name, found);
  return found;
}

/** The image's command with its argument, as a file: what starts services takes no arguments. */
function entryOf(name: string): string {
  const file = join(app, `${name}.mjs`);
  writeFileSync(file, `process.argv[2] = ${JSON.stringify(name)};\nawait import('./dist/run.mjs');\n`);
  return file;
}
