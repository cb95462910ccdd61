import type { Envelope } from '@cleanslate/contracts';
import { BUILT_IN_ROLES, consumersFor, STREAMS } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'vitest';
import { adminOf, expectConserved } from '../fixtures/conservation.ts';
import { expectStreamIsLedger } from '../fixtures/event-stream.ts';
import { countSuccesses, letters } from '../fixtures/ledger-rows.ts';
import type { ScriptedPlatform } from '../fixtures/scripted-platform.ts';
import { describeOpen } from './describe-open.ts';
import type { Kind, Sent } from './load.ts';

/** Outages leave redeliveries, back-off and settlements behind, and a busy machine takes its time with them. */
const QUIET_MS = 120_000;

/** What must be true of every accepted task, whatever happened to it on its way. */
export async function expectRightEnds(p: ScriptedPlatform, sent: readonly Sent[]): Promise<void> {
  const ids = sent.map(({ taskId }) => taskId);
  expect(new Set(ids).size).toBe(sent.length);
  const rows = await waitFor(
    'every accepted task at its end',
    async () => {
      const found = await p.sql<{ task_id: string; end: string; round: number }>(
        `SELECT task_id, coalesce(error->>'code', state) AS end, round FROM ledger.tasks WHERE state IN ('completed', 'failed')`,
      );
      const byId = new Set(found.map(({ task_id }) => task_id));
      return ids.every((id) => byId.has(id)) && found;
    },
    { timeoutMs: QUIET_MS, everyMs: 250 },
  ).catch(async (cause: unknown) => {
    throw new Error(`not every task came to its end:\n${await describeOpen(p)}`, { cause });
  });
  const ends = new Map(rows.map(({ task_id, end, round }) => [task_id, `${end} ${round}`]));
  const wrong = sent.filter(({ kind, taskId }) => !RIGHT[kind].includes(ends.get(taskId) ?? 'lost'));
  expect(wrong.map(({ kind, taskId }) => `${kind} ${taskId}: ${ends.get(taskId)}`)).toEqual([]);
  await expectEffects(p, sent);
}

/** How each kind may end, with its validation round. */
const RIGHT: Readonly<Record<Kind, readonly string[]>> = {
  chain: ['completed 1'],
  pure: ['completed 1'],
  judged: ['completed 2'],
  doomed: ['EXECUTOR_FAILED 1'],
  cancelled: ['completed 1', 'CANCELLED 1'],
};

/** Each step that the ledger has as done took effect: once in the ledger, and the work behind it was really done. */
async function expectEffects(p: ScriptedPlatform, sent: readonly Sent[]): Promise<void> {
  expect(await countSuccesses(p.platform)).toEqual([1]);
  const done = await p.sql<{ key: string }>(
    `SELECT '1/' || t.tenant_id || '/' || t.task_id || '/' || s.step_id AS key FROM ledger.steps s JOIN ledger.tasks t USING (task_seq) WHERE s.phase = 'done'`,
  );
  const effects = new Set(
    p
      .deeds()
      .filter((deed) => deed.what === 'effect')
      .map((deed) => deed.key),
  );
  expect(done.filter(({ key }) => !effects.has(key))).toEqual([]);
  const of = (kind: Kind) => sent.filter((each) => each.kind === kind);
  const fewest = 4 * (of('chain').length + of('judged').length) + 3 * of('pure').length + of('doomed').length;
  expect(done.length).toBeGreaterThanOrEqual(fewest);
  const given = (await letters(p.platform)).map(({ task_id, step_id, reason }) => `${task_id} ${step_id} ${reason}`);
  expect(given.sort()).toEqual(
    of('doomed')
      .map(({ taskId }) => `${taskId} fail EXECUTOR_FAILED`)
      .sort(),
  );
}

/** Ledger, transitions, events, streams and consumers once all is quiet. */
export async function expectNothingLeftOver(p: ScriptedPlatform, sent: readonly Sent[]): Promise<readonly Envelope[]> {
  await expectConserved(p.platform, { timeoutMs: QUIET_MS });
  await expectNoOrphans(p);
  // Candidates of attempts that lost their claim are dropped; those of the winning ones are facts, once each.
  const proposed = sent.reduce((sum, { candidates }) => sum + 4 * candidates, 0);
  expect(
    await p.sql(
      'SELECT count(*)::int4 AS facts, count(DISTINCT knowledge_id)::int4 AS keys FROM knowledge.fact_versions',
    ),
  ).toEqual([{ facts: proposed, keys: proposed }]);
  return expectStreamIsLedger(p.platform);
}

/**
 * Killed processes, cut connections and restarted servers leave nothing behind that holds messages, locks or sessions.
 */
async function expectNoOrphans({ platform, sql }: ScriptedPlatform): Promise<void> {
  const manager = await jetstreamManager((await adminOf(platform)).raw, { timeout: 30_000 });
  const known = new Set(consumersFor(BUILT_IN_ROLES).map(({ stream, durable }) => `${stream} ${durable}`));
  // The last acks may still be on their way.
  await waitFor('nothing left to any consumer', async () => {
    const found: string[] = [];
    for (const { name } of STREAMS)
      for await (const { stream_name, name: durable, num_ack_pending, num_pending } of manager.consumers.list(name)) {
        found.push(`${stream_name} ${durable}`);
        expect({ durable, num_ack_pending, num_pending }).toEqual({ durable, num_ack_pending: 0, num_pending: 0 });
      }
    expect(new Set(found)).toEqual(known);
    return true;
  });
  await waitFor(
    'no session inside a transaction, no lock of one that is gone',
    async () => {
      const open = await sql(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND state_change < now() - interval '1 second'`,
      );
      return open.length === 0;
    },
    { timeoutMs: 30_000 },
  );
}
