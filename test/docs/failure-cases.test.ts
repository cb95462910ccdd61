import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const DOCUMENT = read('docs/failure-cases.md');
/** `path`: “name of a test”. */
const PROOF = /`([^`]+\.test\.ts)`: “([^”]+)”/g;

const rows = DOCUMENT.split('\n').flatMap((line) => {
  const [, id, , here] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
  return id !== undefined && /^[A-G][0-9]+$/.test(id) ? [{ id, here: here ?? '' }] : [];
});
const proofs = [...DOCUMENT.matchAll(PROOF)].map(([, file = '', name = '']) => ({ file, name }));
const range = (group: string, first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => `${group}${first + n}`);

describe('docs/failure-cases.md', () => {
  test('has every case of groups A, B, D, E and F once, and some of G', () => {
    const [inFull, some] = [rows.filter(({ id }) => !id.startsWith('G')), rows.filter(({ id }) => id.startsWith('G'))];
    const groups = [
      ...range('A', 5, 33),
      ...range('B', 2, 14),
      ...range('D', 5, 22),
      ...range('E', 3, 17),
      ...range('F', 1, 12),
    ];
    expect(inFull.map(({ id }) => id)).toEqual(groups);
    expect(some.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['G2', 'G3', 'G6', 'G7', 'G8', 'G9', 'G10', 'G11', 'G12']),
    );
  });

  test('names a test for each, or says why it can’t occur', () => {
    const bare = rows.filter(({ here }) => here.match(PROOF) === null && !here.startsWith('Cannot occur: '));
    expect(bare).toEqual([]);
    expect(proofs.length).toBeGreaterThan(rows.length);
  });

  test.each(proofs)('$file has the test “$name”', ({ file, name }) => {
    expect(existsSync(new URL(file, ROOT))).toBe(true);
    // As the first argument of a test, in any kind of quotes; or a row of a table of tests.
    expect(read(file).replaceAll(/\\(['"])/g, '$1')).toMatch(new RegExp(`['"\`]${toPattern(name)}['"\`]`));
  });
});

function toPattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
