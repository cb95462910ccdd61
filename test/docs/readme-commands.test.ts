import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { checkoutRoot, findPinnedNode } from '@cleanslate/infra';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBlocks } from '../support/guide.ts';
import { Shell } from '../support/shell.ts';

// Each command of the README's stack, in its order, as it is written. `npm run demo` and `npm test` have their own
// tests, or are what runs this.

const BLOCKS = readBlocks('README.md').filter(({ kind, text }) => kind === 'sh' && !text.includes('npm '));
const LINES = [...BLOCKS, ...readBlocks('docs/how-to/regress.md').filter(({ kind }) => kind === 'sh')]
  .flatMap(({ text }) => text.replaceAll('\\\n', ' ').trim().split('\n'))
  .map((line) => line.replace(/\s+#.*$/, ''));
const [UP = '', DOWN = ''] = [LINES.at(0), 'npx slate down'];

let dir: string;
let shell: Shell;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'readme-'));
  await cp(join(checkoutRoot, 'infra', 'samples'), join(dir, 'infra', 'samples'), { recursive: true });
  await symlink(join(checkoutRoot, 'examples'), join(dir, 'examples'));
  shell = new Shell(dir, {
    ...process.env,
    CLEANSLATE_HOME: join(dir, 'home'),
    NO_COLOR: '1',
    PATH: [dirname(findPinnedNode()), join(checkoutRoot, 'node_modules', '.bin'), process.env['PATH']].join(delimiter),
  });
});
afterAll(async () => {
  await shell?.run('slate down').catch(() => undefined);
  await shell?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

async function run(line: string): Promise<string> {
  const { code, text } = await shell.run(line.replaceAll('npx slate', 'slate'));
  expect(code, `${line}\n${text}`).toBe(0);
  if (line.includes('fact redact')) expect(text).toContain('nothing was erased');
  if (line.startsWith('curl')) expect(text).toMatch(/"taskid":/i);
  return text;
}

/** With the ids and the port of this stack in place of the document's; what would never end by itself, for one look. */
async function toRun(line: string): Promise<string> {
  const { gatewayUrl } = JSON.parse(readFileSync(join(dir, 'home', 'stack.json'), 'utf8')) as { gatewayUrl: string };
  const here = line
    .replaceAll('localhost:8080', new URL(gatewayUrl).host)
    .replace(/slate top$/, 'slate top --once')
    .replace(/^curl -sN .*/, '$& --max-time 3 || [ $? = 28 ]');
  if (!here.includes('TASK-ID')) return here;
  const [task] = (JSON.parse(await run('slate task list --workflow contract-review --json')) as List).tasks;
  return here.replaceAll('TASK-ID', task?.taskId ?? 'none');
}
type List = { readonly tasks: readonly { readonly taskId: string }[] };

test('every command of the README and of the guide to regress runs, and ends as it should', {
  timeout: 600_000,
}, async () => {
  expect(UP).toMatch(/slate up --detach/);
  expect(LINES.length).toBeGreaterThan(35);
  await run(UP);
  for (const line of LINES.slice(1)) if (line !== DOWN) await run(await toRun(line));
  await run(DOWN);
});
