import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTerminal } from '../terminal.ts';
import { openJsonLines } from './json-lines.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'json-lines-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const nowhere = { write: () => undefined };
const terminal = openTerminal({ stdout: nowhere, stderr: nowhere, plain: true });
const line = (seq: number) => ({ exportedAt: 7, seq });

test('goes on behind the last whole line, and drops what a broken-off run left behind it', async () => {
  const path = join(folder, 'pairs.jsonl');
  {
    await using file = await openJsonLines(path, { resume: false, key: 'seq', terminal });
    expect(file.after).toBe(undefined);
    await file.write([line(1), line(2)]);
  }
  await writeFile(path, `${await readFile(path, 'utf8')}{"exportedAt":7,"se`);
  {
    await using file = await openJsonLines(path, { resume: true, key: 'seq', terminal });
    expect([file.after, file.revision]).toEqual(['2', 7]);
    await file.write([line(3)]);
  }
  expect(await readFile(path, 'utf8')).toBe([1, 2, 3].map((seq) => `${JSON.stringify(line(seq))}\n`).join(''));
});

test('begins anew where there is no file, or no whole line, to go on with', async () => {
  const path = join(folder, 'none.jsonl');
  await writeFile(path, '{"exportedAt":7');
  await using file = await openJsonLines(path, { resume: true, key: 'seq', terminal });
  expect([file.after, file.revision]).toEqual([undefined, undefined]);
  await using other = await openJsonLines(join(folder, 'absent.jsonl'), { resume: true, key: 'seq', terminal });
  expect(other.after).toBe(undefined);
});

test('touches no file that is there already or is none of its own', async () => {
  const path = join(folder, 'mine.txt');
  await writeFile(path, 'a letter\n');
  const open = (resume: boolean) => openJsonLines(path, { resume, key: 'seq', terminal });
  await expect(open(false)).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { where: '--out' } });
  await expect(open(true)).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { where: '--resume' } });
  expect(await readFile(path, 'utf8')).toBe('a letter\n');
});
