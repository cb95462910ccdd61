import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '@cleanslate/infra';
import { expect, test } from 'vitest';

/** Writes down, at the end of a process, the address of each file that it loaded. */
const listing = (file: string) => `import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
process.on('exit', () => writeFileSync(${JSON.stringify(file)}, loaded.join('\\n')));`;

const NOT_THE_SCHEDULERS = [
  /^packages\/(?:domain|runtime|store|workflows)\/src\/index\.ts$/,
  /^packages\/(?:documents|llm|sources)\//,
  /^packages\/domain\/src\/(?:arbitration|memory|quantities|sanitizing|sources)\//,
  /^packages\/domain\/src\/knowledge\/(?!redaction\/|find-fact-refs\.ts)/,
  /^packages\/runtime\/src\/(?:executor|memory|model|worker)\//,
  /^packages\/store\/src\/(?:auth|knowledge|ledger-views)\//,
  /^packages\/workflows\/src\/[^/]+\/(?:policy|schemas)\.ts$/,
];

// Measured: code that it does not run was 5 MB of its heap, and as much again at full load, where the heap may double.
test('a scheduler holds no code of knowledge, of workers and of models in memory', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'cleanslate-loaded-'));
  const file = join(folder.path, 'loaded.txt');
  const { promise: waits, resolve } = Promise.withResolvers<void>();
  await using service = await startService({
    name: 'scheduler',
    entry: fileURLToPath(new URL('../../services/scheduler/src/main.ts', import.meta.url)),
    env: {
      // Nobody listens there: it has loaded all of its code, and waits.
      NATS_URL: 'nats://127.0.0.1:1',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(listing(file))}`,
    },
    waitReady: false,
    log: (line) => {
      if (line.includes('waiting to start')) resolve();
    },
  });
  await waits;
  await service.stop();
  const loaded = (await readFile(file, 'utf8')).split('\n');
  const own = loaded.flatMap((url) => /^file:.*\/((?:packages|services)\/[^/]+\/src\/.+)$/.exec(url)?.[1] ?? []);
  expect(own).toEqual(expect.arrayContaining(['services/scheduler/src/start.ts', 'packages/store/src/database.ts']));
  expect(own.filter((path) => NOT_THE_SCHEDULERS.some((pattern) => pattern.test(path)))).toEqual([]);
});
