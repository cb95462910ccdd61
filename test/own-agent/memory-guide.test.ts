import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { type Platform, startPlatform, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { slate } from '../fixtures/slate.ts';
import { readBlocks } from '../support/guide.ts';

// docs/how-to/memory.md, command by command, with the worker of examples/memory-agent in the
// place of the built-in analyzer.

const [talk, end] = readBlocks('docs/how-to/memory.md').filter(({ kind }) => kind === 'sh');
let dir: string;
let platform: Platform;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'memory-guide-'));
  await cp(join(checkoutRoot, 'examples/memory-agent/worker.ts'), join(dir, 'worker.ts'));
  await symlink(join(checkoutRoot, 'test/node_modules'), join(dir, 'node_modules'));
  const services = ['scheduler', 'gateway', 'knowledge-maintainer'] as const;
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services });
  await platform.start('analyzer', { ROLE: 'analyzer' }, join(dir, 'worker.ts'));
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** The lines of a block: files are written to the test's folder, `slate` runs as the tenant acme. */
async function run(text: string | undefined): Promise<string> {
  let said = '';
  for (const line of text?.trim().split('\n') ?? []) {
    const [, json, file] = /^echo '(.+)' > (\S+)$/.exec(line) ?? [];
    if (json !== undefined && file !== undefined) await writeFile(join(dir, file), json);
    else {
      const args = line.split(' ').slice(1);
      const at = args.map((arg) => (arg.endsWith('.json') ? join(dir, arg) : arg));
      const { code, stdout, stderr } = await slate(platform, ...at, '--tenant', 'acme');
      expect([line, code, stderr]).toEqual([line, 0, expect.anything()]);
      said += stdout;
    }
  }
  return said;
}

test('a conversation: the second answer has the first exchange before it', async () => {
  const said = await run(talk?.text);
  expect(said).toContain('I remember 0 earlier lines.');
  expect(said).toContain('I remember 2 earlier lines.');
  expect(said).toMatch(/session chat-7: 4 items/);
});

test('its end: what was stated is proposed and becomes facts, and a reset forgets the rest', async () => {
  const [submit = '', ...rest] = end?.text.trim().split('\n').slice(1) ?? [];
  expect(await run(`${end?.text.split('\n')[0]}\n${submit}`)).toMatch(/"proposed": ?2/);
  const [search = '', reset = ''] = rest;
  await waitFor('the facts', async () => (await run(search)).includes('We have decided to renew for 24 months.'));
  expect(await run(reset)).toContain('4 items forgotten');
  const client = await platform.client();
  expect((await client.sessions.list()).sessions).toEqual([]);
});
