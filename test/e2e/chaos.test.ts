import type { Client } from '@cleanslate/client';
import type { PostgresServer } from '@cleanslate/infra';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lanesOf, strike } from '../chaos/faults.ts';
import { Fleet } from '../chaos/fleet.ts';
import { CHAOS_WORKFLOWS, runLoad } from '../chaos/load.ts';
import { expectFlat, MemoryWatch } from '../chaos/memory.ts';
import { expectNothingLeftOver, expectRightEnds } from '../chaos/outcome.ts';
import { randomOf } from '../chaos/random.ts';
import { describeRun } from '../chaos/report.ts';
import { shortenAckWaits } from '../fixtures/conservation.ts';
import { startOwnPostgres } from '../fixtures/own-postgres.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

/** The long form, with another seed each time: `npm run test:chaos`, `SEED=7 MINUTES=7 npm run test:chaos`. */
const SEED = Number(process.env['CHAOS_SEED'] ?? 20_260_101);
const MINUTES = Number(process.env['CHAOS_MINUTES'] ?? 0.4);
const LONG = MINUTES >= 2;

const stack = new AsyncDisposableStack();
let postgres: PostgresServer;
let p: ScriptedPlatform;
let fleet: Fleet;
beforeAll(async () => {
  postgres = await startOwnPostgres(stack);
  const probe = `--import ${new URL('../chaos/memory-probe.ts', import.meta.url).href}`;
  p = await startScripted({
    postgresAdminUrl: postgres.adminUrl,
    cuttable: true,
    services: [],
    workers: [],
    workflows: CHAOS_WORKFLOWS,
    env: { NODE_OPTIONS: `--max-semi-space-size=8 --max-old-space-size=512 ${probe}` },
  });
  stack.use(p);
  fleet = new Fleet(p);
  stack.defer(() => fleet.retire());
  await fleet.start();
  await shortenAckWaits(p.platform, 3_000);
}, 240_000);
afterAll(() => stack.disposeAsync(), 60_000);

test(`seed ${SEED}: ${MINUTES} minutes of faults under load: nothing is lost, nothing doubled, nothing left over`, {
  timeout: MINUTES * 60_000 + 300_000,
}, async () => {
  const { links, broker, database } = p.platform;
  if (links === undefined) throw new Error('the platform can not be cut');
  const memory = new MemoryWatch(fleet);
  memory.start();
  stack.defer(() => memory.stop());
  const reader = await read(p.client);
  const untilMs = performance.now() + MINUTES * 60_000;
  const load = { client: p.client, untilMs, perSecond: LONG ? 12 : 16, name: `chaos-${SEED}`, backlog };
  const loading = runLoad({ ...load, pick: randomOf(SEED) });
  const struck = new Map<string, number>();
  const goneMs = LONG ? 30_000 : 4_000;
  const lanes = lanesOf({ fleet, broker: broker.server, postgres, links, sql: database.sql, goneMs });
  const count = (kind: string) => struck.set(kind, (struck.get(kind) ?? 0) + 1);
  await Promise.all(
    lanes.map((faults, i) => strike(faults, randomOf(SEED + 1 + i), untilMs, LONG ? 8_000 : 1_500, count)),
  );
  const sent = await loading;
  await expectRightEnds(p, sent);
  const events = await expectNothingLeftOver(p, sent);
  memory.stop();
  console.log(`seed ${SEED}\n${await describeRun(p, sent, struck, memory.stories())}`);
  expect(await reader.end()).toEqual(events.map((event) => Number(event.sequence)).sort((a, b) => a - b));
  expect(fleet.deserters).toEqual([]);
  expectFlat(memory.stories());
  expect([...struck.values()].reduce((sum, n) => sum + n, 0)).toBeGreaterThan(LONG ? 10 * MINUTES : 5);
  if (MINUTES >= 5)
    for (const { kind } of lanes.flat()) expect(struck.has(kind) ? kind : `${kind}: never struck`).toBe(kind);
});

async function backlog(): Promise<number> {
  const [row] = await p.sql<{ n: number }>(
    `SELECT count(*)::int4 AS n FROM ledger.tasks WHERE state NOT IN ('completed', 'failed')`,
  );
  return row?.n ?? 0;
}

/** One reader that lives through it all: it must be handed each event once and in order. */
async function read(client: Client): Promise<{ readonly end: () => Promise<readonly number[]> }> {
  const positions: number[] = [];
  const stop = new AbortController();
  const reading = (async () => {
    for await (const item of client.watch({ progress: false, signal: stop.signal }))
      if (item.kind === 'event') positions.push(item.cursor.position);
  })();
  stack.defer(() => stop.abort());
  reading.catch(() => undefined);
  // A watch that can't begin says so; one that has begun goes on.
  await client.submit({ workflow: 'one-step', input: { script: {} } });
  await waitFor('the reader to see its first event', () => positions.length > 0);
  const end = async () => {
    const [last] = await p.sql<{ last: number }>('SELECT max(position)::int4 AS last FROM ledger.events');
    await waitFor('the reader to see the last event', () => (positions.at(-1) ?? 0) >= (last?.last ?? 0));
    stop.abort();
    await reading;
    return positions;
  };
  return { end };
}
