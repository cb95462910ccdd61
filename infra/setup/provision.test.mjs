import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'provision-test-'));
  await mkdir(join(folder, 'bin'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SYSTEM_PATH = ['/usr/bin', '/bin'].join(delimiter);

/** Puts a program of our own on the PATH, in the place of the real one. */
async function fake(name, script) {
  const path = join(folder, 'bin', name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

/**
 * Runs one provisioning function in a process whose PATH and cache are ours; it prints the choice or the error's text.
 */
function provision(module, name, { systemPath = SYSTEM_PATH, env = {}, options = '' } = {}) {
  const script = `
    const { ${name} } = await import(${JSON.stringify(join(import.meta.dirname, module))});
    const cache = ${JSON.stringify(join(folder, 'cache'))};
    console.log(await ${name}({ cache${options} }).then(JSON.stringify, (error) => error.message));`;
  const path = [join(folder, 'bin'), systemPath].filter(Boolean).join(delimiter);
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { PATH: path, ...env },
  });
  return run.stdout.trim();
}

test('with nothing at hand the NATS failure says what was tried and one remedy for each system', () => {
  const text = provision('nats.mjs', 'provisionNats', { systemPath: '' });
  expect(text).toContain('no nats-server on the PATH; no Docker engine answers');
  expect(text).toMatch(/Debian\/Ubuntu: .+\n\s+macOS: brew install nats-server\n\s+Docker: .+/);
});

test('and so does that of Postgres', () => {
  const text = provision('postgres.mjs', 'provisionPostgres', { systemPath: '', options: ', isRoot: false' });
  expect(text).toContain('no postgres on the PATH; no Docker engine answers; not root');
  expect(text).toMatch(/Debian\/Ubuntu: .+\n\s+macOS: .+\n\s+Docker: .+/);
});

test('a server on the PATH is used if it is new enough, and named if it is not', async () => {
  await fake('nats-server', 'echo nats-server: v2.14.2');
  expect(JSON.parse(provision('nats.mjs', 'provisionNats'))).toMatchObject({ kind: 'binary', version: '2.14.2' });
  await fake('nats-server', 'echo nats-server: v2.9.10');
  expect(provision('nats.mjs', 'provisionNats', { systemPath: '/bin/none' })).toContain(
    'is version 2.9.10, older than 2.14',
  );
});

test('NATS_URL and DATABASE_URL come first, and their passwords are not recorded', () => {
  const env = { NATS_URL: 'nats://u:secret@h', DATABASE_URL: 'postgres://u:secret@h/d' };
  const nats = provision('nats.mjs', 'provisionNats', { env });
  const postgres = provision('postgres.mjs', 'provisionPostgres', { env });
  expect([nats, postgres].map((text) => JSON.parse(text).kind)).toEqual(['url', 'url']);
  expect(nats + postgres).not.toContain('secret');
});

test('tests do not take NATS_URL, since they start and kill their own servers', async () => {
  await fake('nats-server', 'echo nats-server: v2.14.0');
  const text = provision('nats.mjs', 'provisionNats', { env: { NATS_URL: 'nats://h' }, options: ', mayUseUrl: false' });
  expect(JSON.parse(text).kind).toBe('binary');
});

test('a Docker engine that answers is used, and a docker program without an engine is not', async () => {
  await fake('docker', 'case "$1" in info) echo 28.2.2 ;; image) exit 0 ;; esac');
  expect(JSON.parse(provision('nats.mjs', 'provisionNats', { systemPath: '/bin/none' }))).toMatchObject({
    kind: 'docker',
  });
  await fake('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
  expect(provision('nats.mjs', 'provisionNats', { systemPath: '/bin/none' })).toContain('no Docker engine answers');
});

test('an unreachable mirror is reported in its own words and leaves nothing half-made', async () => {
  await fake(
    'apt-get',
    `case "$*" in
      *print-uris*) echo "'http://mirror.invalid/debian/dists/sid/InRelease' x 0"; . /etc/os-release; echo "'http://mirror.invalid/debian/dists/$VERSION_CODENAME/InRelease' x 0" ;;
      *) echo "E: Could not resolve 'mirror.invalid'" >&2; exit 100 ;;
    esac`,
  );
  await fake('docker', 'exit 1');
  await fake('nats-server', 'echo nats-server: v2.9.10');
  const text = provision('nats.mjs', 'provisionNats');
  const isDebian = spawnSync('grep', ['-q', '^ID=debian$', '/etc/os-release']).status === 0;
  expect(text).toContain(isDebian ? "Could not resolve 'mirror.invalid'" : 'not a Debian system');
  expect(await readdir(join(folder, 'cache')).catch(() => [])).toEqual([]);
});

test('a PostgreSQL without the extensions is refused by name', async () => {
  await fake('postgres', '');
  await fake('pg_config', `echo ${join(folder, 'bin')}; echo ${join(folder, 'share')}; echo "PostgreSQL 17.2"`);
  const refused = provision('postgres.mjs', 'provisionPostgres', {
    systemPath: '/bin/none',
    options: ', isRoot: false',
  });
  expect(refused).toContain('PostgreSQL 17.2 on the PATH lacks timescaledb and vector');
  await mkdir(join(folder, 'share', 'extension'), { recursive: true });
  for (const name of ['timescaledb', 'vector'])
    await writeFile(join(folder, 'share', 'extension', `${name}.control`), '');
  expect(JSON.parse(provision('postgres.mjs', 'provisionPostgres'))).toMatchObject({ kind: 'binary', version: '17.2' });
});

test('Chromium: the one that is named, the one on the PATH, else a remedy for each system', async () => {
  expect(provision('chromium.mjs', 'provisionChromium', { env: { CHROMIUM_PATH: '/nowhere' } })).toContain(
    '/nowhere, which is not there',
  );
  const missing = provision('chromium.mjs', 'provisionChromium', { systemPath: '', options: ', isRoot: false' });
  expect(missing).toMatch(/No Chromium was found.*Debian\/Ubuntu: .*chromium.*macOS: /s);
  await fake('chromium', 'exit 0');
  const found = JSON.parse(provision('chromium.mjs', 'provisionChromium', { systemPath: '' }));
  expect(found).toEqual({ kind: 'binary', path: join(folder, 'bin', 'chromium'), why: 'found on this machine' });
});
