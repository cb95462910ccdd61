import { once } from 'node:events';
import type { Tx } from '@cleanslate/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// A commit on its way behind the last statements: what fails before it must undo them all, and
// nobody may be told otherwise.

let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger({ poolSize: 1 });
});
afterAll(() => ledger[Symbol.asyncDispose]());

const add = (tx: Tx, role: string) =>
  tx.query('INSERT INTO ledger.turns (role, tenant_id) VALUES ($1, $2)', [role, 'acme']);
const roles = async () =>
  (await ledger.sql<{ role: string }>('SELECT role FROM ledger.turns ORDER BY role')).map(({ role }) => role);

test('everything sent before it is committed with it', async () => {
  await ledger.commit(async (tx) => {
    const added = Promise.all([add(tx, 'a'), add(tx, 'b')]);
    tx.commit();
    await added;
  });
  expect(await roles()).toEqual(['a', 'b']);
});

test('a statement that fails before it undoes the others, and is what the caller hears', async () => {
  const failing = ledger.commit(async (tx) => {
    const added = Promise.all([add(tx, 'c'), add(tx, 'a'), add(tx, 'd')]);
    tx.commit();
    await added;
  });
  await expect(failing).rejects.toMatchObject({ code: '23505' });
  expect(await roles()).toEqual(['a', 'b']);
  // The connection is as good as before.
  await ledger.commit((tx) => add(tx, 'e'));
  expect(await roles()).toEqual(['a', 'b', 'e']);
});

test.each([true, false])('a failure that nobody heard is no success: commit on its way: %s', async (early) => {
  const deaf = ledger.commit(async (tx) => {
    const added = Promise.allSettled([add(tx, 'f'), add(tx, 'a')]);
    if (early) tx.commit();
    await added;
  });
  await expect(deaf).rejects.toMatchObject({ code: 'INTERNAL' });
  expect(await roles()).toEqual(['a', 'b', 'e']);
});

test('a statement behind it is refused', async () => {
  const late = ledger.commit(async (tx) => {
    tx.commit();
    await add(tx, 'g');
  });
  await expect(late).rejects.toThrow('behind the commit');
  expect(await roles()).toEqual(['a', 'b', 'e']);
});

/** As deep as the ledger's writers lie in each other: what one throws takes some turns to be heard. */
const failDeep = async (depth: number): Promise<never> => {
  if (depth === 0) throw new Error('a row that can’t be written');
  const [never] = await Promise.all([failDeep(depth - 1)]);
  return never;
};

test('a writer that fails before its statement is sent: the commit behind it is not sent either', async () => {
  const failing = ledger.commit(async (tx) => {
    const added = Promise.all([add(tx, 'h'), failDeep(8), add(tx, 'i')]);
    tx.commit();
    await added;
  });
  await expect(failing).rejects.toThrow('can’t be written');
  expect(await roles()).toEqual(['a', 'b', 'e']);
  const late = ledger.commit(async (tx) => {
    const added = Promise.all([add(tx, 'h'), Promise.resolve().then(() => add(tx, 'i'))]);
    tx.commit();
    await added;
  });
  await expect(late).rejects.toThrow('behind the commit');
  expect(await roles()).toEqual(['a', 'b', 'e']);
  await ledger.commit((tx) => add(tx, 'j'));
  expect(await roles()).toEqual(['a', 'b', 'e', 'j']);
});

test('a statement that is put together only when another has failed is refused, not run outside of the transaction', async () => {
  const late = Promise.withResolvers<unknown>();
  const ended = new AbortController();
  const failing = ledger.commit(async (tx) => {
    await Promise.all([
      add(tx, 'a'),
      // Long behind the rollback: the connection may be somebody else's by then.
      once(ended.signal, 'abort').then(() => add(tx, 'h').then(late.resolve, late.reject)),
    ]);
  });
  await expect(failing).rejects.toMatchObject({ code: '23505' });
  ended.abort();
  await expect(late.promise).rejects.toMatchObject({ code: 'INTERNAL' });
  expect(await roles()).not.toContain('h');
});

test('what failed first is what the caller hears, however deep in the work it was: the statements behind it only say that it did', async () => {
  const deep = async (tx: Tx, depth: number): Promise<unknown> => {
    if (depth > 0) return await Promise.all([deep(tx, depth - 1)]);
    return await tx.query("DO $$ BEGIN RAISE 'no space left' USING ERRCODE = '53100'; END $$");
  };
  const failing = ledger.commit(async (tx) => await Promise.all([deep(tx, 8), add(tx, 'k'), add(tx, 'l')]));
  await expect(failing).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  expect(await roles()).not.toContain('k');
});
