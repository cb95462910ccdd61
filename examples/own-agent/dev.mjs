// Runs worker.ts, and anew whenever a source here is saved: the old one finishes what it has in hand
// first. `node --watch` would do, but it follows the file it opened: after an editor has saved by
// replacing it, it sees no second save.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';

let worker;
let again = false;
let over = false;

function start() {
  again = false;
  worker = spawn(process.execPath, ['--env-file=.env', 'worker.ts'], { stdio: 'inherit' });
  worker.once('exit', (code) => {
    worker = undefined;
    if (again) start();
    else if (!over && code !== 0) console.error('the worker ended; it is started again when you save');
  });
}

function restart() {
  again = true;
  if (worker === undefined) start();
  else worker.kill();
}

let timer;
const watcher = watch('.', (_, file) => {
  if (!/\.[cm]?[jt]s$|^\.env$/.test(file ?? '')) return;
  clearTimeout(timer);
  timer = setTimeout(restart, 200); // an editor writes more than once for a save
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    watcher.close();
    clearTimeout(timer);
    over = true;
    again = false;
    worker?.kill();
  });
}
start();
