import { openDatabase, withTransaction } from '@cleanslate/store';
import { createTestDatabase } from '@cleanslate/testing';
import { expect, inject, test } from 'vitest';

test('times are read to the millisecond, whatever their fraction, their zone and their century', async () => {
  await using server = await createTestDatabase(inject('postgresAdminUrl'));
  await using database = openDatabase({ url: server.urlOf('cleanslate_scheduler'), applicationName: 'test' });
  const read = (time: string, zone = 'UTC') =>
    withTransaction(database, { role: 'cleanslate_scheduler', readOnly: true }, async (tx) => {
      await tx.query(`SET LOCAL TimeZone = '${zone}'`);
      const { rows } = await tx.query<{ at: Date | number }>('SELECT $1::timestamptz AS at', [time]);
      const at = rows[0]?.at;
      return at instanceof Date ? at.toISOString() : at;
    });
  expect(await read('2026-11-30T14:00:00Z')).toBe('2026-11-30T14:00:00.000Z');
  expect(await read('2026-11-30T14:00:00.1Z')).toBe('2026-11-30T14:00:00.100Z');
  expect(await read('2026-11-30T14:00:00.123999Z')).toBe('2026-11-30T14:00:00.123Z');
  expect(await read('1969-12-31T23:59:59.5Z')).toBe('1969-12-31T23:59:59.500Z');
  expect(await read('2026-11-30T14:00:00Z', 'Asia/Kolkata')).toBe('2026-11-30T14:00:00.000Z');
  expect(await read('0044-03-15 12:00:00+00 BC')).toBe('-000043-03-15T12:00:00.000Z');
  expect(await read('12026-01-01 00:00:00+00')).toBe('+012026-01-01T00:00:00.000Z');
  expect(await read('infinity')).toBe(Number.POSITIVE_INFINITY);
});
