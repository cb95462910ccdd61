#!/usr/bin/env node
// Runs the command line under the Node version the project pins, whatever Node the system has.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const main = join(dirname(fileURLToPath(import.meta.url)), '..', 'src', 'main.ts');
if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import(pathToFileURL(main).href);
} else {
  const node = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node');
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A ^C in a terminal reaches the child by itself; we only wait for it.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  child.on('error', (error) => {
    console.error(`The pinned Node could not be started (${error.message}). Run \`npm run setup\`.`);
    process.exit(1);
  });
}
