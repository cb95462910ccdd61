import {
  addApiKey,
  addRole,
  countTenantRows,
  type Database,
  eraseTenant,
  findApiKey,
  listRoles,
  listTenants,
  openDatabase,
  putApiKey,
  registerTenant,
  removeRole,
  rotateApiKey,
  setTenantState,
  withTransaction,
} from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

let database: TestDatabase;
let gateway: Database;
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresAdminUrl'));
  gateway = openDatabase({ url: database.urlOf('cleanslate_gateway'), applicationName: 'auth-test' });
});
afterAll(async () => {
  await gateway?.close();
  await database?.[Symbol.asyncDispose]();
});

const whose = (key: string) =>
  withTransaction(gateway, { role: 'cleanslate_gateway', readOnly: true }, (tx) => findApiKey(tx, key));

describe('API keys', () => {
  test('a new tenant has one; only its hash is kept', async () => {
    const { key } = await registerTenant(database.adminUrl, 'keys');
    expect(key?.key).toMatch(/^csk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
    expect(await whose(key?.key ?? '')).toEqual({ tenantId: 'keys', keyId: key?.keyId });
    const dump = JSON.stringify(await database.sql('SELECT * FROM auth.api_keys'));
    expect(dump).not.toContain(key?.key.slice(-20));
    expect(await registerTenant(database.adminUrl, 'keys')).toEqual({});
  });

  test('rotated: the old one ends at once, or after the time given', async () => {
    const first = await addApiKey(database.adminUrl, 'acme');
    const second = await rotateApiKey(database.adminUrl, 'acme', 60_000);
    expect(await whose(first.key)).toMatchObject({ tenantId: 'acme' });
    const third = await rotateApiKey(database.adminUrl, 'acme', 0);
    expect(await whose(first.key)).toBeUndefined();
    expect(await whose(second.key)).toBeUndefined();
    expect(await whose(third.key)).toMatchObject({ tenantId: 'acme', keyId: third.keyId });
    expect(await whose('csk_no_such_key')).toBeUndefined();
  });

  test('of the caller’s choice, put twice, is one', async () => {
    await putApiKey(database.adminUrl, 'globex', 'csk_local_stack');
    await putApiKey(database.adminUrl, 'globex', 'csk_local_stack');
    expect(await whose('csk_local_stack')).toMatchObject({ tenantId: 'globex' });
    const globex = (await listTenants(database.adminUrl)).find((tenant) => tenant.tenantId === 'globex');
    expect(globex?.apiKeys).toHaveLength(1);
  });

  test('can not be listed by the gateway', async () => {
    const list = withTransaction(gateway, { role: 'cleanslate_gateway' }, (tx) =>
      tx.query('SELECT * FROM auth.api_keys'),
    );
    await expect(list).rejects.toThrow(/permission denied/);
  });

  test('are for tenants that are there', async () => {
    await expect(addApiKey(database.adminUrl, 'nobody')).rejects.toMatchObject({ code: 'UNKNOWN_TENANT' });
    await expect(registerTenant(database.adminUrl, 'No.Body')).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' });
  });
});

describe('a tenant is erased', () => {
  test('only when suspended, with all that is its own and nothing of another', async () => {
    for (const tenant of ['gone', 'stays']) {
      await registerTenant(database.adminUrl, tenant);
      await fill(tenant);
    }
    await expect(eraseTenant(database.adminUrl, 'gone')).rejects.toMatchObject({ code: 'TENANT_ACTIVE' });
    await setTenantState(database.adminUrl, 'gone', 'suspended');
    const before = await countTenantRows(database.adminUrl, 'stays');
    const removed = await eraseTenant(database.adminUrl, 'gone');
    expect(removed.map(({ table }) => table).sort()).toEqual(before.map(({ table }) => table).sort());
    expect(removed.map(({ table }) => table)).toEqual(
      expect.arrayContaining(['ledger.transitions', 'knowledge.fact_versions', 'auth.api_keys', 'ledger.objects']),
    );
    await expect(countTenantRows(database.adminUrl, 'gone')).rejects.toMatchObject({ code: 'UNKNOWN_TENANT' });
    expect(await countTenantRows(database.adminUrl, 'stays')).toEqual(before);
    await registerTenant(database.adminUrl, 'gone');
    expect(await countTenantRows(database.adminUrl, 'gone')).toEqual([{ table: 'auth.api_keys', rows: 1 }]);
  });

  test('and facts stay undeletable for everyone else', async () => {
    await expect(database.sql(`DELETE FROM knowledge.fact_versions`)).rejects.toThrow(/never deleted/);
    await using maintainer = openDatabase({ url: database.urlOf('cleanslate_maintainer'), applicationName: 'test' });
    const erase = withTransaction(maintainer, { role: 'cleanslate_maintainer' }, async (tx) => {
      await tx.query(`SELECT set_config('cleanslate.erasing_tenant', 'yes', true)`);
      await tx.query('DELETE FROM knowledge.fact_versions');
    });
    await expect(erase).rejects.toThrow(/permission denied/);
  });
});

async function fill(tenant: string): Promise<void> {
  await database.sql(`INSERT INTO ledger.objects (tenant_id, sha256, bytes) VALUES ($1, 'aa', '\\x00')`, [tenant]);
  await database.sql(
    `INSERT INTO ledger.transitions (at, task_seq, tenant_id, to_state, trigger) VALUES (now(), 1, $1, 'pending', 'test')`,
    [tenant],
  );
  await database.sql(
    `INSERT INTO knowledge.fact_versions (tenant_id, knowledge_id, version, statement, signature, content_hash, knowledge_type, layer,
       source_type, source_ref, lineage, lineage_trust, source_message_id, source_time, weight, confidence, importance, access_level,
       sensitivity, tags, valid, revisions)
     VALUES ($1, 'k', 1, 's', 's', 'c', 'rule', 'core', 't', 'r', '{}', 't', 'm', now(), 1, 1, 1, 'internal', 'low', '{}', '(,)', '[1,)')`,
    [tenant],
  );
}

test('a role is added once, and removed where nobody waits for it', async () => {
  expect(await addRole(database.adminUrl, 'poet')).toBe(true);
  expect(await addRole(database.adminUrl, 'poet')).toBe(false);
  expect(await addRole(database.adminUrl, 'analyzer')).toBe(false);
  await expect(addRole(database.adminUrl, 'a.b')).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' });
  const roles = await listRoles(database.adminUrl);
  expect(roles.map(({ role }) => role)).toEqual(['planner', 'retriever', 'analyzer', 'generator', 'validator', 'poet']);
  expect(await removeRole(database.adminUrl, 'poet')).toEqual({ known: true, workflows: [], waitingSteps: 0 });
  expect(await removeRole(database.adminUrl, 'poet')).toMatchObject({ known: false });
});
