import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256, toKeyedRequest } from '@cleanslate/domain';
import { beginErasure, findSubmitKeys, keySubmits, noteErased, noteLook } from '@cleanslate/store';
import { startTestBroker } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createErasure } from '../../services/scheduler/src/loops/erasure.ts';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger[Symbol.asyncDispose]());

/** A redaction as the maintainer writes it down. */
async function redact(tenantId: string, phrase: string): Promise<number> {
  const [row] = await ledger.sql<{ id: string }>(
    `INSERT INTO knowledge.redactions (tenant_id, knowledge_id, versions, revision, reason, redacted_by, redacted_at, source_message_id, phrases, hashes)
     VALUES ($1, 'fact-1', '{1}', 1, 'ticket 1', 'maria', now(), $2, ARRAY[$2], '{}') RETURNING redaction_id AS id`,
    [tenantId, phrase],
  );
  return Number(row?.id);
}

test('a redaction that fails whenever it is looked for holds up no other: each has its turn', async () => {
  const failing = await redact('acme', 'one');
  const others = [await redact('globex', 'two'), await redact('acme', 'three')];
  const taken: (number | undefined)[] = [];
  for (let turn = 1; turn <= 7; turn++) {
    const { next, open } = await ledger.commit(beginErasure);
    taken.push(next?.redactionId);
    expect(open).toContain(failing);
    // The first never gets that far.
    if (next !== undefined && next.redactionId !== failing)
      await ledger.commit((tx) => noteLook(tx, next, { waitsFor: [], found: false, done: turn > 4 }));
  }
  expect(taken).toEqual([failing, ...others, failing, ...others, failing]);
  expect(await ledger.commit(beginErasure)).toMatchObject({
    next: { phrases: ['one'], looked: false },
    open: [failing],
  });
  await ledger.commit((tx) => noteLook(tx, { redactionId: failing }, { waitsFor: [], found: false, done: true }));
  expect(await ledger.commit(beginErasure)).toEqual({ next: undefined, open: [] });
});

test('the submits of what was erased are keyed once it is done, also where an older release ended it; those of other tasks stay', async () => {
  await ledger.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
  const plain = sha256('what was said');
  for (const [tenantId, taskId] of [
    ['globex', 'said-it'],
    ['globex', 'did-not'],
    ['acme', 'said-it'],
  ])
    await ledger.sql(
      `INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input, pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
       VALUES ($1, $2, $3, 's', 'w', 'p', 'pending', 1, 1, 1, '{}', now(), 0, now(), 1, now(), now())`,
      [tenantId, taskId, plain],
    );
  const hashes = async () => {
    const rows = await ledger.sql<{ hash: string }>(
      `SELECT body_hash AS hash FROM ledger.tasks ORDER BY tenant_id DESC, task_id DESC`,
    );
    return rows.map(({ hash }) => hash);
  };
  const redactionId = await redact('globex', 'said');
  await ledger.commit(beginErasure);
  await ledger.commit((tx) => noteErased(tx, { redactionId }, { rows: 1, tasks: ['said-it'] }));
  await ledger.commit((tx) => keySubmits(tx, toKeyedRequest));
  expect(await hashes()).toEqual([plain, plain, plain]);
  // As an older release ends it.
  await ledger.commit((tx) => noteLook(tx, { redactionId }, { waitsFor: [], found: false, done: true }));
  await ledger.commit((tx) => keySubmits(tx, toKeyedRequest));
  const key = (await ledger.commit((tx) => findSubmitKeys(tx, ['globex', 'acme']))).get('globex') ?? new Uint8Array();
  expect(await hashes()).toEqual([toKeyedRequest(key, plain), plain, plain]);
  // A second time nothing changes.
  await ledger.commit((tx) => keySubmits(tx, toKeyedRequest));
  expect(await hashes()).toEqual([toKeyedRequest(key, plain), plain, plain]);
});

test('a scheduler that stops leaves the rest of a look to the next one, and does not take it for done', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'erasures-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const broker = stack.use(await startTestBroker(dir));
  const bus = stack.use(await broker.connect({ kind: 'scheduler' }));
  await ledger.sql(`UPDATE ledger.tasks SET input = '{"said":"secret salary"}' WHERE tenant_id = 'acme'`);
  const redactionId = await redact('acme', 'secret salary');
  const erase = createErasure({ bus, database: ledger.database });
  const rows = async () => {
    const [row] = await ledger.sql<{ input: { said: string }; looked: boolean }>(
      `SELECT t.input, e.looked_at IS NOT NULL AS looked FROM ledger.tasks t, ledger.erasures e WHERE t.tenant_id = 'acme' AND e.redaction_id = $1`,
      [redactionId],
    );
    return row;
  };
  expect(await erase(AbortSignal.abort())).toBe(false);
  expect(await rows()).toEqual({ input: { said: 'secret salary' }, looked: false });
  expect(await erase(new AbortController().signal)).toBe(true);
  expect(await rows()).toMatchObject({ input: { said: expect.not.stringContaining('secret') }, looked: true });
});
