import { mkdir } from 'node:fs/promises';
import { cacheFolder } from './cache.mjs';
import { provisionChromium } from './chromium.mjs';
import { provisionNats } from './nats.mjs';
import { installPackages } from './packages.mjs';
import { chooseEmbedded, provisionPostgres } from './postgres.mjs';
import { SetupError, say } from './say.mjs';
import { recordToolchain } from './toolchain.mjs';

/** What each target needs besides the packages. Only tests and benchmarks need the real database. */
const NEEDS = {
  demo: { nats: true, postgres: false },
  test: { nats: true, postgres: true, chromium: true },
  'test:chaos': { nats: true, postgres: true },
  bench: { nats: true, postgres: true },
  'bench:smoke': { nats: true, postgres: true },
  'bench:contamination': { nats: true, postgres: true },
  'bench:knowledge': { nats: false, postgres: true },
  setup: { nats: true, postgres: true, chromium: true },
  verify: { nats: false, postgres: false },
  'truth:contracts': { nats: false, postgres: false },
  truth: { nats: true, postgres: true },
  pack: { nats: false, postgres: false },
};

/** Brings everything that `target` needs and records the choices. Throws `SetupError` with the remedies. */
export async function prepare(target) {
  if (process.platform === 'win32') {
    throw new SetupError('Cleanslate runs on Linux and macOS.', {
      Windows: 'use WSL 2 (`wsl --install`) and run this there',
    });
  }
  const needs = NEEDS[target];
  const cache = cacheFolder();
  await mkdir(cache, { recursive: true });
  // Side by side, and all awaited: a failure must not leave another's apt or pnpm running behind our back.
  const database = needs.postgres ? provisionPostgres({ cache }) : undefined;
  const outcomes = await Promise.allSettled([
    installPackages(),
    // Tests start, kill and configure their servers, so a running one is of no use to them.
    needs.nats ? provisionNats({ cache, mayUseUrl: target === 'demo' || target === 'setup' }) : undefined,
    database,
    // One apt at a time: the machine's package lists have one lock.
    needs.chromium
      ? Promise.resolve(database)
          .catch(() => {})
          .then(findBrowser)
      : undefined,
  ]);
  const [, nats, postgres, chromium] = outcomes.map((outcome) => outcome.value);
  const demoPostgres = needs.nats ? chooseEmbedded() : undefined;
  await recordToolchain({ nats, postgres, demoPostgres, chromium });
  if (nats) tellChoice('NATS', nats);
  if (postgres) tellChoice('Postgres', postgres);
  if (chromium) tellChoice('Chromium', chromium);
  if (target === 'demo') tellChoice('Postgres', demoPostgres);
  throwFailures(outcomes);
}

/** All other tests run without one; those of the page then fail, and say this. */
async function findBrowser() {
  try {
    return await provisionChromium();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { kind: 'missing', why: error.message };
  }
}

function tellChoice(name, { kind, version, path, root, why }) {
  const what = [kind, version, path ?? root].filter(Boolean).join(' ');
  say(`${name}: ${what} (${why})`);
}

function throwFailures(outcomes) {
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const fault = errors.find((error) => !(error instanceof SetupError));
  if (fault) throw fault;
  if (errors.length > 0) throw new SetupError(errors.map((error) => error.message).join('\n\n'));
}
