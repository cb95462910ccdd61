import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from './command.mjs';

const script = join(import.meta.dirname, 'run.mjs');

test('an unknown target is answered with the usage, on stderr', () => {
  const run = spawnSync(process.execPath, [script, 'bogus'], { encoding: 'utf8' });
  expect(run.status).toBe(2);
  expect(run.stderr).toContain('Unknown target "bogus". Usage:');
  expect(run.stdout).toBe('');
});

test('an old Node is told so in words, before anything that it could not parse', () => {
  const old = `Object.defineProperty(process.versions, 'node', { value: '16.20.0' }); process.argv = ['node', 'run', 'demo'];`;
  const run = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', `${old} await import(${JSON.stringify(script)})`],
    {
      encoding: 'utf8',
    },
  );
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/needs Node 20 or later[\s\S]*Debian\/Ubuntu:[\s\S]*macOS:[\s\S]*Docker:/);
});

test('a command past its deadline is ended together with its children', async () => {
  const startedAt = performance.now();
  const result = await runCommand('sh', ['-c', 'sleep 30 & echo started; wait'], { deadlineMs: 300 });
  expect(result).toMatchObject({ ok: false, stdout: 'started\n' });
  expect(result.output).toMatch(/stopped after 0 s/);
  expect(performance.now() - startedAt).toBeLessThan(25_000);
});

test('a missing program is a result, not an exception', async () => {
  expect(await runCommand('no-such-program-at-all', [], { deadlineMs: 1_000 })).toMatchObject({ ok: false, code: 127 });
});

test('an interruption ends the running command and lets no further one start', async () => {
  const body = `
    const { runCommand, findInterruption } = await import(${JSON.stringify(join(import.meta.dirname, 'command.mjs'))});
    console.log('ready');
    const first = await runCommand('sleep', ['30'], { deadlineMs: 60_000 });
    const second = await runCommand('echo', ['x'], { deadlineMs: 1_000 });
    console.log(JSON.stringify([findInterruption(), first.ok, second.ok]));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', body], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    if (text.includes('ready')) setTimeout(() => child.kill('SIGTERM'), 200);
  });
  await once(child, 'close');
  expect(stdout).toContain('["SIGTERM",false,false]');
});
