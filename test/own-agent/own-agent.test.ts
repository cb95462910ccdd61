import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { checkoutRoot, findPinnedNode } from '@cleanslate/infra';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Block, readBlocks } from '../support/guide.ts';
import { Shell } from '../support/shell.ts';

// docs/how-to/own-agent.md, command by command, in a folder outside the checkout: the packed packages,
// a stack that runs elsewhere.

const GUIDE = readBlocks('docs/how-to/own-agent.md').filter((block) => block.kind.startsWith('sh'));
const PATIENCE = { timeout: 300_000 };

let dir: string;
let shell: Shell;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'own-agent-'));
  shell = new Shell(dir, {
    ...process.env,
    CLEANSLATE: checkoutRoot,
    CLEANSLATE_HOME: join(dir, 'home'),
    NO_COLOR: '1',
    PATH: `${dirname(findPinnedNode())}${delimiter}${process.env['PATH']}`,
    // What was fetched once is not fetched again; and a registry that is away is not asked for long.
    npm_config_prefer_offline: 'true',
    npm_config_fetch_retries: '1',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  });
});
afterAll(async () => {
  await shell?.run('slate down').catch(() => undefined);
  await shell?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** As written, but for the set-up around packing, which has its own tests, and the folder that other runs share. */
function toRun({ kind, text }: Block): string {
  const own = text
    .replace('npm run -s pack', `node infra/setup/pack.mjs --out ${dir}/dist`)
    .replace('"$CLEANSLATE"/dist/', `${dir}/dist/`);
  return kind === 'sh background' ? `${own.trim()} > "${dir}/worker.log" 2>&1 &` : own;
}
async function run(index: number): Promise<string> {
  const block = GUIDE[index];
  if (block === undefined) throw new Error(`the guide has no block ${index}`);
  const { code, text } = await shell.run(toRun(block));
  expect(code, `${block.text}\n${text}`).toBe(0);
  return text;
}
const workerLog = () => (existsSync(join(dir, 'worker.log')) ? readFileSync(join(dir, 'worker.log'), 'utf8') : '');
const registered = (times: number) =>
  waitFor('workflows registered', () => workerLog().split('workflows registered').length > times, {
    timeoutMs: 60_000,
  });
const worker = () => join(dir, 'my-agent', 'worker.ts');

describe('the guide to an agent of your own', () => {
  test('a stack, the packages, a role', PATIENCE, async () => {
    expect(await run(0)).toMatch(/ready: NATS/);
    await run(1);
    await run(2);
    expect(await readFile(join(dir, 'my-agent', '.env'), 'utf8')).toMatch(
      /^NATS_URL=.*\nNATS_USER=worker-scribe\nNATS_PASSWORD=\S+\n$/,
    );
  });

  test('the worker runs beside the built-in ones, and its workflow has a result', PATIENCE, async () => {
    await run(3);
    await registered(1);
    expect(await run(4)).toContain('10 words, the longest is \\"question\\"');
    expect((await shell.run('slate role list')).text).toMatch(/scribe +added +1 .*digest/);
  });

  test('broken, its dead letter is found; mended, it is replayed', PATIENCE, async () => {
    const broken = await run(5);
    expect(broken).toContain('Reduce of empty array');
    expect(broken).toMatch(/ATTEMPTS_EXHAUSTED/);
    await run(6);
    await registered(2);
    // The one that was saved over finished in good order, before the next one took over.
    expect(workerLog().split('workflows registered')[1]).toMatch(/"event":"stopped"|"msg":"stopped"/);
    await run(7);
    const { text } = await shell.run('slate task list --workflow digest --json');
    const { tasks } = JSON.parse(text.slice(text.indexOf('{'))) as { tasks: { state: string }[] };
    expect(tasks.map((task) => task.state)).toEqual(['completed', 'completed']);
    expect(GUIDE).toHaveLength(8);
  });

  test('every save starts it anew, of an editor that replaces the file, too', PATIENCE, async () => {
    for (const time of [3, 4]) {
      await writeFile(`${worker()}.new`, await readFile(worker(), 'utf8'));
      await rename(`${worker()}.new`, worker());
      await registered(time);
    }
  });

  test('a mapping that does not fit is refused by the compiler and at the start', PATIENCE, async () => {
    const good = await readFile(worker(), 'utf8');
    const bad = good.replace("words: 'steps.count.output.words'", "words: 'steps.count.output.longest'");
    expect(bad).not.toBe(good);
    await writeFile(worker(), bad);
    const built = await shell.run('npm run build');
    expect(built.code).not.toBe(0);
    expect(built.text).toContain('CONTRACT_MISMATCH');
    expect(built.text).toMatch(/given: string;\s+readonly taken: number/);
    const started = await shell.run('node --env-file=.env worker.ts');
    expect(started.code).not.toBe(0);
    expect(started.text).toMatch(/step "describe", field "words" of digest\/describe: .* it is string, not integer/);
    await writeFile(worker(), good);
    const sample = readBlocks('packages/runtime/README.md').find((block) => block.kind === 'ts')?.text ?? '';
    await writeFile(join(dir, 'my-agent', 'readme.ts'), sample);
    const compiled = await shell.run(
      'npx tsc --ignoreConfig --noEmit --strict --module nodenext --types node readme.ts',
    );
    expect(compiled.code, compiled.text).toBe(0);
    const rebuilt = await shell.run('npm run build && node --check dist/worker.js');
    expect(rebuilt.code, rebuilt.text).toBe(0);
  });

  test('the README of the client runs under the Node of the system', PATIENCE, async () => {
    const { node, version } = findSystemNode();
    expect(Number(version.slice(1).split('.')[0]), `${node} is ${version}`).toBeGreaterThanOrEqual(20);
    const code = readBlocks('packages/client/README.md').find((block) => block.kind === 'js')?.text ?? '';
    const home = (file: string) => JSON.parse(readFileSync(join(dir, 'home', file), 'utf8'));
    const { natsUrl } = home('stack.json') as { natsUrl: string };
    const { nats } = home('credentials.json') as { nats: Record<string, string> };
    await writeFile(join(dir, 'my-agent', 'readme.mjs'), code.replace('nats://127.0.0.1:4222', natsUrl));
    const ran = await shell.run(`NATS_PASSWORD='${nats['tenant-demo']}' '${node}' readme.mjs`);
    expect(ran.code, ran.text).toBe(0);
    expect(ran.text).toMatch(/^accepted \{ epoch: 1, position: \d+ \}/m);
    expect(ran.text).toMatch(/^completed \{\}/m);
  });
});

/** The first `node` of the PATH that isn't the one the workspace pins: what a user has. */
function findSystemNode(): { node: string; version: string } {
  const pinned = realpathSync(findPinnedNode());
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find((path) => existsSync(path) && realpathSync(path) !== pinned);
  const node = found ?? pinned;
  return { node, version: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim() };
}
