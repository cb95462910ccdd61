import { createTestDatabase } from '@cleanslate/testing';
import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { toBooleanArray, toLines, toNumberArray, toTextArray } from '../../packages/store/src/ledger/arrays.ts';

test('PostgreSQL reads arrays and lines as they were given, whatever is in them', async () => {
  await using server = await createTestDatabase(inject('postgresAdminUrl'));
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('"', '\\', ',', '{', '}', '\n', '\u2028', 'ü', '\u{1f600}'), fc.string()),
  });
  const readable = text.filter((value) => !value.includes('\0') && value.isWellFormed());
  const row = fc.record({
    word: fc.option(fc.oneof(readable, fc.constantFrom('null', 'NULL', ''))),
    count: fc.option(fc.maxSafeInteger()),
    truth: fc.boolean(),
    document: fc.option(fc.oneof(fc.record({ said: readable }), fc.constant([]))),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const read = await server.sql(
        `SELECT word, count::text::float8, truth, document FROM unnest($1::text[], $2::int8[], $3::bool[], string_to_array($4, E'\\n', '')::json[]) AS x(word, count, truth, document)`,
        [
          toTextArray(rows.map(({ word }) => word)),
          toNumberArray(rows.map(({ count }) => count)),
          toBooleanArray(rows.map(({ truth }) => truth)),
          toLines(rows.map(({ document }) => document && JSON.stringify(document))),
        ],
      );
      expect(read).toEqual(rows);
    }),
    { numRuns: 50 },
  );
});
