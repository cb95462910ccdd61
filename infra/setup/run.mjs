// The first command in a fresh clone: brings the pinned Node and packages, finds or fetches the servers, then runs the
// target under the pinned Node. Uses nothing but the system's own Node.
const OLDEST_NODE = 20;
const TARGETS = [
  'demo',
  'test',
  'verify',
  'test:chaos',
  'bench',
  'bench:smoke',
  'bench:contamination',
  'bench:knowledge',
  'truth:contracts',
  'truth',
  'pack',
  'setup',
];

const nodeMajor = Number(process.versions.node.split('.')[0]);
if (nodeMajor < OLDEST_NODE) {
  console.error(
    [
      `Cleanslate needs Node ${OLDEST_NODE} or later to set itself up; this is Node ${process.versions.node}.`,
      '  Debian/Ubuntu: install a current nodejs, for instance with nvm (`nvm install 24`)',
      '  macOS: brew install node',
      '  Docker: use an image node:24',
    ].join('\n'),
  );
  process.exit(1);
}

const [target, ...args] = process.argv.slice(2);
if (!TARGETS.includes(target)) {
  console.error(`Unknown target "${target ?? ''}". Usage: node infra/setup/run.mjs <${TARGETS.join('|')}> [arguments]`);
  process.exit(2);
}

const { prepare } = await import('./prepare.mjs');
const { runTarget } = await import('./target.mjs');
const { SetupError, say } = await import('./say.mjs');
const { findInterruption } = await import('./command.mjs');

try {
  await prepare(target);
  process.exitCode = await runTarget(target, args);
} catch (error) {
  if (findInterruption()) {
    say(`interrupted by ${findInterruption()}; what was unfinished is gone, so the command can be repeated`);
    process.exit(130);
  }
  // A SetupError is written for a person; anything else is a fault of the set-up and shows where.
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
}
