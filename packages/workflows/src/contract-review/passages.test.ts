import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CLAUSE_KINDS } from './clause.ts';
import { readClause } from './read-clause.fixture.ts';

// Invented passages in the ways of writing that filings, standard forms and statutes use; the first three kinds have
// files of their own.
function passages(language: 'en' | 'zh'): Record<string, readonly (readonly [string, string])[]> {
  return JSON.parse(readFileSync(new URL(`fixtures/passages-${language}.json`, import.meta.url), 'utf8'));
}

describe.each(['en', 'zh'] as const)('passages, %s', (language) => {
  const all = passages(language);

  test('each kind has some that state it and some that only sound like it', () => {
    for (const kind of CLAUSE_KINDS.slice(3)) {
      const expected = (all[kind] ?? []).map(([, reading]) => reading);
      expect(expected.length, kind).toBeGreaterThanOrEqual(12);
      expect(expected.filter((reading) => reading === 'absent').length, kind).toBeGreaterThanOrEqual(4);
      expect(expected.filter((reading) => reading !== 'absent').length, kind).toBeGreaterThanOrEqual(5);
    }
  });

  describe.each(CLAUSE_KINDS.slice(3))('%s', (kind) => {
    test.each(all[kind] ?? [])('%s', (text, expected) => {
      expect(readClause(kind, text)).toBe(expected);
    });
  });
});
