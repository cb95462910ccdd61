import { randomUUID } from 'node:crypto';
import { insertCall, settleCall, type Tx } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// The right to a call and the end of it are requests of their own: several schedulers answer them, in any
// order, and one may be heard twice.

let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger[Symbol.asyncDispose]());
beforeEach(() => ledger.sql('DELETE FROM ledger.model_spend'));

const attempt = { epoch: 1, tenantId: 'acme', taskId: 'task-1', stepId: 'ask', attempt: 1 };
const reserve = (tx: Tx, callId: string) =>
  insertCall(tx, { callId, tenantId: 'acme', model: 'm', tokens: 100, cost: 2, leaseMs: 60_000 });
const settle = (tx: Tx, callId: string, promptTokens = 0) =>
  settleCall(tx, { callId, attempt, promptTokens, completionTokens: 0, cost: 0 });
/** Calls that take a place, and what the day has spent. */
const taken = async (callId: string) => {
  const open = await ledger.sql('SELECT FROM ledger.model_calls WHERE call_id = $1 AND ended_at IS NULL', [callId]);
  const [spend] = await ledger.sql<{ tokens: string; cost: number }>('SELECT tokens, cost FROM ledger.model_spend');
  return { open: open.length, tokens: Number(spend?.tokens ?? 0), cost: spend?.cost ?? 0 };
};

test('a call that is settled takes no place, and what it used takes the place of what was reserved, once', async () => {
  const callId = randomUUID();
  expect(await ledger.commit((tx) => reserve(tx, callId))).toBe(true);
  expect(await taken(callId)).toEqual({ open: 1, tokens: 100, cost: 2 });
  for (const used of [7, 9]) await ledger.commit((tx) => settle(tx, callId, used));
  expect(await taken(callId)).toEqual({ open: 0, tokens: 7, cost: 0 });
});

test('one that was settled before it was reserved gets nothing any more', async () => {
  const callId = randomUUID();
  await ledger.commit((tx) => settle(tx, callId));
  for (let said = 1; said <= 2; said++) expect(await ledger.commit((tx) => reserve(tx, callId))).toBe(false);
  expect(await taken(callId)).toEqual({ open: 0, tokens: 0, cost: 0 });
});

test('one that is settled while it is reserved waits for that, and ends it', async () => {
  const callId = randomUUID();
  const reserved = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const reserving = ledger.commit(async (tx) => {
    await reserve(tx, callId);
    reserved.resolve();
    await goOn.promise;
  });
  await reserved.promise;
  const settling = ledger.commit((tx) => settle(tx, callId));
  await waitFor('the one to wait for the other', async () => {
    const waiting = await ledger.sql(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waiting.length === 1;
  }).finally(() => goOn.resolve());
  await Promise.all([reserving, settling]);
  expect(await taken(callId)).toEqual({ open: 0, tokens: 0, cost: 0 });
});
