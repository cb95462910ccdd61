import { createHash } from 'node:crypto';
import { findSayingObjects, openDatabase, withTransaction } from '@cleanslate/store';
import { createTestDatabase } from '@cleanslate/testing';
import { expect, inject, test } from 'vitest';

const TEXTS = {
  asItIs: 'Note: Ann’s café in Łódź pays 30,000 a year.',
  capitals: 'ANN’S  CAFÉ\nIN ŁÓDŹ PAYS 30,000 A YEAR',
  chinese: '备注：安的年薪是三万元。',
  escaped: JSON.stringify({ said: 'C:\\temp is ann’s café in łódź, which pays 30,000 a year' }),
  named: JSON.stringify({ ref: 'ann@1' }),
  other: 'Ann’s bar in Łódź pays nothing.',
};

test('objects are found whether their words stand in small letters or in capitals', async () => {
  await using server = await createTestDatabase(inject('postgresAdminUrl'));
  await using database = openDatabase({ url: server.urlOf('cleanslate_scheduler'), applicationName: 'test' });
  const names = new Map<string, string>();
  for (const [name, text] of Object.entries(TEXTS)) {
    const sha256 = createHash('sha256').update(text).digest('hex');
    names.set(sha256, name);
    await server.sql('INSERT INTO ledger.objects (tenant_id, sha256, bytes) VALUES ($1, $2, $3)', [
      'acme',
      sha256,
      Buffer.from(text),
    ]);
  }
  const found = async (...phrases: string[]) => {
    const words = { tenantId: 'acme', knowledgeId: 'ann', phrases };
    const hashes = await withTransaction(database, { role: 'cleanslate_scheduler', readOnly: true }, (tx) =>
      findSayingObjects(tx, words),
    );
    return hashes.map((sha256) => names.get(sha256)).sort();
  };
  expect(await found('Ann’s café in Łódź pays 30,000 a year')).toEqual(['asItIs', 'capitals', 'escaped', 'named']);
  expect(await found('安的年薪是三万元')).toEqual(['chinese', 'named']);
  expect(await found('a bar of Łódź, nothing', '安的年薪')).toEqual(['chinese', 'named', 'other']);
});
