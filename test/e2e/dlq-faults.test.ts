import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { applyTopology } from '@cleanslate/bus';
import { BUILT_IN_ROLES, encodeMessage, KnowledgePropose } from '@cleanslate/contracts';
import { findPinnedNode } from '@cleanslate/infra';
import { waitFor } from '@cleanslate/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, countMessages, expectConserved, shortenAckWaits } from '../fixtures/conservation.ts';
import { letters } from '../fixtures/ledger-rows.ts';
import { LETTER_WORKFLOWS } from '../fixtures/letter-workflows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { aCandidate, toAttributes } from '../fixtures/worker-messages.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workflows: LETTER_WORKFLOWS });
  await shortenAckWaits(p.platform, 2_000);
});
afterAll(() => p[Symbol.asyncDispose]());

const DYING = new URL('../fixtures/dying-dead-letter.ts', import.meta.url).pathname;
const jsm = async () => jetstreamManager((await adminOf(p.platform)).raw, { checkAPI: false, timeout: 30_000 });
const lettersAt = async (subject: string) => (await letters(p.platform)).filter((letter) => letter.subject === subject);

describe('a dead letter under faults', () => {
  test('B4: killed between the letter and the end of its message, twice told is one letter', async () => {
    const manager = await jsm();
    // Without the broker's own dedupe: the ledger's key must do.
    await manager.streams.update('DLQ', { duplicate_window: 100_000_000 });
    await p.platform.service('analyzer').stop();
    const subject = 'cmd.work.analyzer.acme.t-b4';
    const scheduler = await p.platform.broker.connect({ kind: 'scheduler' });
    scheduler.publish(subject, Buffer.from('{"p":'), { 'X-Canary': 'b4' });
    await scheduler.flush();
    const child = spawn(findPinnedNode(), [DYING], {
      env: { ...process.env, NATS_URL: p.platform.broker.url, NATS_PASSWORD: p.platform.broker.password },
      stdio: 'inherit',
    });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    await waitFor('the first telling in the ledger', async () => (await lettersAt(subject)).length === 1);
    expect(await countMessages(p.platform, 'COMMANDS')).toBe(1);
    const told = (await manager.streams.info('DLQ')).state.last_seq;
    await p.startWorker();
    await waitFor('the message ended', async () => (await countMessages(p.platform, 'COMMANDS')) === 0);
    expect((await manager.streams.info('DLQ')).state.last_seq).toBe(told + 1);
    await waitFor('the second telling taken', async () => (await countMessages(p.platform, 'DLQ')) === 0);
    const [letter, ...others] = await lettersAt(subject);
    expect(others).toEqual([]);
    expect(letter?.body?.toString()).toBe('{"p":');
    expect(letter?.headers['X-Canary']).toEqual(['b4']);
    await manager.streams.update('DLQ', { duplicate_window: 120_000_000_000 });
    await scheduler.close();
  });

  test('B3: while the dead letters are full the message stays, tried at a measured pace; then exactly one letter', async () => {
    const manager = await jsm();
    const { max_bytes } = (await manager.streams.info('DLQ')).config;
    await manager.streams.update('DLQ', { max_bytes: 1 });
    const before = (await manager.consumers.info('REPORTS', 'scheduler-reports')).delivered.consumer_seq;
    const subject = 'rpt.analyzer.acme.t-b3';
    const worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
    worker.publish(subject, Buffer.from('{"p":'), { 'X-Canary': 'b3' });
    await worker.flush();
    // A submit that nobody can read is answered, once, however long its letter takes.
    p.client.bus.publish('cmd.task.acme', Buffer.from('{"id":"b3-submit"'), {});
    await p.client.bus.flush();
    const tried = await waitFor(
      'a second try',
      async () => {
        const { delivered, num_redelivered } = await manager.consumers.info('REPORTS', 'scheduler-reports');
        return num_redelivered > 0 && delivered.consumer_seq - before;
      },
      { timeoutMs: 90_000, everyMs: 200 },
    );
    expect(tried).toBeLessThan(8);
    await waitFor('the submit’s third delivery', async () => {
      const { delivered, ack_floor } = await manager.consumers.info('INTAKE', 'scheduler-intake');
      return delivered.consumer_seq - ack_floor.consumer_seq >= 3;
    });
    expect(await lettersAt('cmd.task.acme')).toEqual([]);
    expect(await countMessages(p.platform, 'REPORTS')).toBe(1);
    expect(await lettersAt(subject)).toEqual([]);
    // Work goes on meanwhile.
    expect((await p.client.result(await p.submit('given-up', {}))).state).toBe('completed');
    await manager.streams.update('DLQ', { max_bytes });
    await waitFor('the message ended', async () => (await countMessages(p.platform, 'REPORTS')) === 0, {
      timeoutMs: 90_000,
    });
    for (const each of [subject, 'cmd.task.acme']) {
      await waitFor('its letter', async () => (await lettersAt(each)).length > 0, { timeoutMs: 90_000 });
      expect(await lettersAt(each)).toHaveLength(1);
    }
    expect(await p.sql(`SELECT FROM ledger.events WHERE envelope->>'type' = 'submit.refused.v1'`)).toHaveLength(1);
    await worker.close();
  });

  test('B14: the broker restarted twice after the end: still one letter', async () => {
    const taskId = await p.submit('given-up', { failFirst: 9 });
    expect(await p.client.result(taskId)).toMatchObject({ error: { code: 'ATTEMPTS_EXHAUSTED' } });
    const { server } = p.platform.broker;
    const before = await letters(p.platform);
    for (let restarts = 0; restarts < 2; restarts++) {
      await server.kill();
      await server.restart();
      const next = await waitFor('work goes on', () => p.submit('given-up', {}).catch(() => undefined), {
        timeoutMs: 30_000,
      });
      expect((await p.client.result(next)).state).toBe('completed');
    }
    await expectConserved(p.platform);
    expect(await letters(p.platform)).toEqual(before);
    expect(before.filter((letter) => letter.task_id === taskId)).toHaveLength(1);
  });

  test('a candidate put back and lost with its stream is put back again', async () => {
    const taskId = await p.submit('given-up', {});
    await p.client.result(taskId);
    const subject = `blackboard.acme.${taskId}`;
    const worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
    worker.publish(subject, Buffer.from('{"p":'), {});
    await worker.flush();
    const [letter] = await waitFor('its letter', async () => {
      const found = await lettersAt(subject);
      return found.length > 0 && found;
    });
    const id = letter?.letter_id ?? '';
    const manager = await jsm();
    const maintainer = p.platform.service('knowledge-maintainer');
    await maintainer.kill('SIGSTOP');
    const fence = { epoch: 1, tenantId: 'acme', taskId, stepId: 'work', attempt: 1, claimId: 'c-1' };
    const attributes = { ...toAttributes('c-lost', fence), candidateid: 'lost-1' };
    const body = encodeMessage(KnowledgePropose, attributes, aCandidate('lost'));
    await p.client.deadLetters.replay(id, { edit: { body: Buffer.from(body).toString('base64') } });
    await waitFor('the message in its stream', async () => {
      const rows = await p.sql('SELECT FROM ledger.dead_letters WHERE letter_id = $1 AND replay_sequence > 1', [id]);
      return rows.length > 0;
    });
    expect(await manager.streams.delete('BLACKBOARD')).toBe(true);
    await applyTopology(await adminOf(p.platform), { roles: BUILT_IN_ROLES });
    await maintainer.kill('SIGCONT');
    await waitFor('the letter closed', async () => (await p.client.deadLetters.show(id)).status === 'closed', {
      timeoutMs: 60_000,
    });
    expect(await p.sql(`SELECT FROM knowledge.candidates WHERE candidate_id = 'lost-1'`)).toHaveLength(1);
    await worker.close();
  });

  test('B12: ended letters are forgotten after their time, open ones never', async () => {
    const write = (id: string, status: string, days: number) =>
      p.sql(
        `INSERT INTO ledger.dead_letters (letter_id, tenant_id, headers, reason, error, history, status, first_failed_at, last_failed_at, settled_at)
         VALUES ($1, 'acme', '{}', 'OLD', '{"code":"OLD","disposition":"terminal","message":"x"}', '[]', $2, now() - interval '400 days', now() - interval '400 days',
           CASE WHEN $2 <> 'open' THEN now() - make_interval(days => $3::int) END)`,
        [id, status, days],
      );
    await Promise.all([
      write('old-closed', 'closed', 31),
      write('old-discarded', 'discarded', 31),
      write('young', 'closed', 29),
      write('open', 'open', 0),
    ]);
    await p.platform.start('scheduler');
    const left = await waitFor('the old ones gone', async () => {
      const rows = await p.sql<{ letter_id: string }>(`SELECT letter_id FROM ledger.dead_letters WHERE reason = 'OLD'`);
      return rows.length < 4 && rows.map((row) => row.letter_id).sort();
    });
    expect(left).toEqual(['open', 'young']);
  });
});
