import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { checkout, pinnedNode } from './checkout.mjs';
import { SetupError, say } from './say.mjs';

const COMMANDS = {
  demo: ['packages/cli/src/main.ts', 'demo'],
  test: ['node_modules/vitest/vitest.mjs', 'run'],
  'test:chaos': ['node_modules/vitest/vitest.mjs', 'run', 'test/e2e/chaos.test.ts'],
  verify: ['infra/setup/verify.mjs'],
  bench: ['bench/src/bench.ts'],
  'bench:smoke': ['bench/src/bench.ts', '--smoke'],
  'bench:contamination': ['bench/src/contamination.ts'],
  'bench:knowledge': ['node_modules/vitest/vitest.mjs', 'run', 'test/knowledge/speed.test.ts'],
  'truth:contracts': ['bench/src/truth-contracts.ts'],
  truth: ['bench/src/truth.ts'],
  pack: ['infra/setup/pack.mjs'],
};

/** The long form, with another seed each time; the test's name prints it, and `SEED=…` repeats it. */
function chaosEnvironment() {
  const { SEED = String(Math.floor(Math.random() * 2 ** 31)), MINUTES = '5', ...rest } = process.env;
  return { ...rest, CHAOS_SEED: SEED, CHAOS_MINUTES: MINUTES };
}

/**
 * Its options, for the test that measures: `--facts N`, `--versions N`, `--json`. Throws `SetupError` for any other.
 */
function knowledgeBench(args) {
  const env = { ...process.env, SPEED: '1' };
  const given = [...args];
  for (let option = given.shift(); option !== undefined; option = given.shift()) {
    if (option === '--json') env.FIGURES = 'json';
    else if (['--facts', '--versions'].includes(option) && /^[1-9][0-9]{3,7}$/.test(given[0] ?? ''))
      env[option.slice(2).toUpperCase()] = given.shift();
    else throw new SetupError('usage: npm run bench:knowledge [-- --facts N --versions N --json], N from 1000');
  }
  return env;
}

/** What the target's process gets as its environment and its arguments. */
function launchOf(target, args) {
  if (target === 'bench:knowledge') return { env: knowledgeBench(args), args: [] };
  return { env: target === 'test:chaos' ? chaosEnvironment() : process.env, args };
}

/** Runs the target under the pinned Node and returns its exit code; signals are passed on. */
export async function runTarget(target, args) {
  const command = COMMANDS[target];
  if (command === undefined) {
    say('ready: `npm run demo`, `npm test`');
    return 0;
  }
  const [file, ...fixedArgs] = command;
  const launch = launchOf(target, args);
  const child = spawn(pinnedNode, [join(checkout, file), ...fixedArgs, ...launch.args], {
    cwd: checkout,
    stdio: 'inherit',
    env: launch.env,
  });
  const forward = (signal) => child.kill(signal);
  // In a terminal a ^C reaches the child by itself; a second one would mean "at once" to it.
  const onInterrupt = process.stdin.isTTY ? () => {} : forward;
  process.on('SIGINT', onInterrupt).on('SIGTERM', forward).on('SIGHUP', forward);
  return new Promise((resolve, reject) => {
    child.on('error', (error) =>
      reject(new SetupError(`The pinned Node ${pinnedNode} could not be started: ${error.message}`)),
    );
    child.on('exit', (code, signal) => resolve(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}
