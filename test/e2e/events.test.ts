import type { WatchItem } from '@cleanslate/client';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved, shortenAckWaits } from '../fixtures/conservation.ts';
import { expectStreamIsLedger, readEvents, toCloudEvent } from '../fixtures/event-stream.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workers: ['analyzer', 'validator'] });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('events', () => {
  test('are what the ledger committed, in order and without a gap; each is a CloudEvent to the official package', async () => {
    const terminal = { code: 'MODEL_REFUSED', disposition: 'terminal' } as const;
    const tasks = await Promise.all([
      p.submit('four-steps', { candidates: 1 }),
      p.submit('one-step', { failFirst: 1 }),
      p.submit('one-step', { failFirst: 1, failWith: terminal }),
      p.submit('judged', { badInRound1: true }),
      p.submit('judged', {}, { judge: { verdict: 'reject' } }),
      p.submit('one-step', { hang: true }, { deadlineMs: 500 }),
    ]);
    await p.client.submit({ workflow: 'one-step', input: { script: {} }, key: 'k' });
    await p.client.submit({ workflow: 'one-step', input: { script: {} }, key: 'k' });
    const refused = p.client.submit({ workflow: 'no-such-workflow', input: {} });
    await expect(refused).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
    const hanging = await p.submit('one-step', { hang: true });
    await p.client.cancel(hanging);
    for (const taskId of tasks) await p.client.result(taskId);
    await expectConserved(p.platform);

    const streamed = await expectStreamIsLedger(p.platform);
    expect(streamed.map((event) => event.sequence)).toEqual(streamed.map((_, i) => String(i + 1)));
    const events = await readEvents(p.platform);
    expect(new Set(events.map(({ subject }) => subject.split('.')[1]))).toEqual(new Set(['task', 'knowledge']));
    const types = events.map((streamedEvent) => {
      const event = toCloudEvent(streamedEvent);
      expect(event.specversion).toBe('1.0');
      expect(streamedEvent.subject).toContain(`.${String(event['tenantid'])}.`);
      return event.type;
    });
    expect([...new Set(types)].sort()).toEqual([
      'candidates.settled.v1',
      'fact.changed.v1',
      'step.transitioned.v1',
      'submit.refused.v1',
      'task.accepted.v1',
      'task.transitioned.v1',
    ]);
  });

  test('reach a watcher all, once and in order, while the scheduler is killed and another takes over', async () => {
    await shortenAckWaits(p.platform, 3_000);
    const stop = new AbortController();
    const seen: Extract<WatchItem, { kind: 'event' }>[] = [];
    const watching = (async () => {
      const options = { signal: stop.signal, progress: false, until: 'never', checkMs: 500 } as const;
      for await (const item of p.client.watch(options)) if (item.kind === 'event') seen.push(item);
    })();
    const tasks = await Promise.all(Array.from({ length: 40 }, () => p.submit('four-steps', { sleepMs: 60 })));
    await waitFor('half of the work', () => p.deeds().length > 120);
    const scheduler = p.platform.service('scheduler');
    await scheduler.kill('SIGKILL');
    expect(scheduler.exit).toMatchObject({ signal: 'SIGKILL' });
    const open = await p.sql(`SELECT FROM ledger.tasks WHERE state NOT IN ('completed', 'failed')`);
    expect(open.length).toBeGreaterThan(0);
    await p.platform.start('scheduler');
    for (const taskId of tasks) await p.client.result(taskId);
    await expectConserved(p.platform);
    const rows = await p.sql<{ position: number | string }>(
      `SELECT position FROM ledger.events WHERE tenant_id = 'acme' ORDER BY position`,
    );
    await waitFor('the last event', () => seen.length >= rows.length);
    stop.abort();
    await watching;
    expect(seen.map((item) => item.cursor.position)).toEqual(rows.map((row) => Number(row.position)));
    await expectStreamIsLedger(p.platform);
  });
});
