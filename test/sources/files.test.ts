import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aDocx, aPdf } from '@cleanslate/documents/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exampleOf } from './guide.ts';
import { openTestSources, type TestSources } from './open-test-sources.ts';

let opened: TestSources;
let root: string;
// A busy machine takes its time to start the thread that reads PDF and Word files.
const open = async (more = '', timeoutMs = 60_000) => {
  opened = await openTestSources(`${exampleOf('files')}    timeoutMs: ${timeoutMs}\n${more}`);
  root = join(opened.folder, 'handbook');
  await mkdir(root);
};
const write = (path: string, content: string | Uint8Array) => writeFile(join(root, path), content);
const locators = async (query: string, more = {}) =>
  (await opened.ask('handbook', { query, ...more })).map(({ locator }) => locator);
beforeEach(() => open());
afterEach(() => opened[Symbol.asyncDispose]());

describe('a folder', () => {
  it('gives passages of Markdown, text, PDF and Word files, each with its place', async () => {
    await mkdir(join(root, 'leave'));
    await write(
      'leave/parental.md',
      '# Parental leave\n\nIntroduction.\n\n## Length\n\nParental leave lasts 16 weeks.\n',
    );
    await write('差旅.txt', '差旅费用应在三十日内报销。\n');
    await write(
      'travel.pdf',
      aPdf([{ lines: ['Travel policy'] }, { blank: true }, { lines: ['Flights are booked in economy class.'] }]),
    );
    await write('gifts.docx', aDocx(['Gifts above 50 EUR are declined.']));
    const [found] = await opened.ask('handbook', { query: 'how long is parental leave' });
    expect(found).toMatchObject({
      content: '## Length\n\nParental leave lasts 16 weeks.',
      title: 'parental.md › Parental leave › Length',
      source: 'handbook',
    });
    expect(found?.locator).toBe('leave/parental.md#L5-L7');
    expect(await locators('差旅报销')).toEqual(['差旅.txt#L1-L1']);
    expect(await locators('economy flights')).toEqual(['travel.pdf#page=3']);
    expect(await locators('gifts')).toEqual(['gifts.docx#passage=1']);
    expect(await locators('leave', { path: 'travel' })).toEqual([]);
    expect(await locators('unheard of')).toEqual([]);
    expect(await opened.sources.check()).toMatchObject([{ ok: true, says: '4 files, 6 passages' }]);
  });

  it('is read as it is now: what is changed, added and removed counts', async () => {
    await write('a.md', 'The limit is 10 days.');
    expect(await locators('limit')).toEqual(['a.md#L1-L1']);
    await write('a.md', 'Nothing here any more, really.');
    await write('b.md', 'The limit is 20 days.');
    expect(await locators('limit')).toEqual(['b.md#L1-L1']);
    await rm(join(root, 'b.md'));
    expect(await locators('limit')).toEqual([]);
  });

  it('is not left by any way: links out of it, links in circles, hidden files, pipes', async () => {
    const outside = join(opened.folder, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret.md'), 'The secret password.');
    await mkdir(join(root, 'sub'));
    await symlink(join(outside, 'secret.md'), join(root, 'linked.md'));
    await symlink(outside, join(root, 'folder'));
    await symlink('../..', join(root, 'sub', 'up'));
    await symlink('..', join(root, 'sub', 'circle'));
    await symlink('/etc/passwd', join(root, 'passwd.txt'));
    await symlink('nowhere', join(root, 'dangling.md'));
    await write('.hidden.md', 'The secret password.');
    await write('open.md', 'No secret, no password.');
    expect(await locators('secret password root')).toEqual(['open.md#L1-L1']);
    expect(await locators('secret', { path: '../outside' })).toEqual([]);
  });

  it('is read through the links that a mounted ConfigMap is made of, also when it is exchanged', async () => {
    for (const [version, days] of [
      ['..1', 10],
      ['..2', 20],
    ] as const) {
      await mkdir(join(root, version));
      await write(`${version}/policy.md`, `The limit is ${days} days.`);
    }
    await symlink('..1', join(root, '..data'));
    await symlink('..data/policy.md', join(root, 'policy.md'));
    expect(await opened.ask('handbook', { query: 'limit' })).toMatchObject([
      { content: 'The limit is 10 days.', locator: 'policy.md#L1-L1' },
    ]);
    await symlink('..2', join(root, '..new'));
    await rename(join(root, '..new'), join(root, '..data'));
    expect(await opened.ask('handbook', { query: 'limit' })).toMatchObject([{ content: 'The limit is 20 days.' }]);
  });

  it('with files that nobody can read answers from the others, and says how many there were', async () => {
    await write('broken.pdf', '%PDF-1.7 and then nothing');
    await write('binary.txt', new Uint8Array([0, 1, 2, 3]));
    await write('latin.md', Uint8Array.from([0x63, 0x61, 0x66, 0xe9]));
    await write('good.md', 'The limit is 10 days.');
    expect(await locators('limit')).toEqual(['good.md#L1-L1']);
    expect(await opened.sources.check()).toMatchObject([{ says: '1 files, 1 passages; 3 could not be read' }]);
  });

  it.each([
    ['more files than it may', '    maxFiles: 2\n', 'SOURCE_TOO_LARGE'],
    ['more text than it may', '    maxText: 1024\n', 'SOURCE_TOO_LARGE'],
  ])('with %s is refused, not searched in part', async (_what, more, code) => {
    await opened[Symbol.asyncDispose]();
    await open(more);
    for (let n = 0; n < 4; n++) await write(`${n}.md`, `The limit is ${n} days. ${'More words follow. '.repeat(30)}`);
    expect(await opened.codeOf('handbook', { query: 'limit' })).toBe(code);
  });

  it('that is not there, or whose reading takes too long, is an outage of its own', async () => {
    await rm(root, { recursive: true });
    const error = await opened.ask('handbook', { query: 'limit' }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'SOURCE_UNAVAILABLE', message: expect.stringContaining('mounted') });
    expect(error.message).not.toContain(opened.folder);
    await opened[Symbol.asyncDispose]();
    await open('', 100);
    const heavy = aPdf(
      Array.from({ length: 300 }, () => ({ lines: Array.from({ length: 50 }, () => 'word '.repeat(12)) })),
    );
    await write('heavy.pdf', heavy);
    expect(await opened.codeOf('handbook', { query: 'word' })).toBe('SOURCE_TIMEOUT');
  });

  it('of a thousand files is searched in a moment once it was read', async () => {
    await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        write(`${n}.md`, `# File ${n}\n\n${`Paragraph about topic ${n % 50}. `.repeat(20)}\n\nThe code is x${n}.`),
      ),
    );
    expect(await locators('code x777')).toContain('777.md#L1-L5');
    expect(await locators('code x778')).toContain('778.md#L1-L5');
  });
});
