import type { Bus } from '@cleanslate/bus';
import { encodeMessage, KnowledgePropose, StepReport, TaskSubmit, toReportId } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, expectConserved } from '../fixtures/conservation.ts';
import { type LetterFacts, letters, lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { aCandidate, toAttributes } from '../fixtures/worker-messages.ts';

let p: ScriptedPlatform;
let scheduler: Bus;
let worker: Bus;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl') });
  // With the credentials of those who may publish there: a bug of theirs is what is played here.
  scheduler = await p.platform.broker.connect({ kind: 'scheduler' });
  worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
});
afterAll(async () => {
  await Promise.all([scheduler.close(), worker.close()]);
  await p[Symbol.asyncDispose]();
});

const GARBAGE = [
  Buffer.from('{"p":'),
  Buffer.alloc(0),
  Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
  Buffer.from('{"specversion":"1.0"}'),
];

describe('poison', () => {
  test.each(['INTAKE', 'COMMANDS', 'REPORTS', 'BLACKBOARD'])(
    'on %s: exactly one dead letter each, with the original bytes and headers; good work after it is done',
    async (stream) => {
      const pids = p.platform.services.map((service) => service.pid);
      const { bus, subject, foreign } = channel(stream);
      const poison = [...GARBAGE, foreign.body];
      for (const [i, body] of poison.entries()) {
        const headers = i < GARBAGE.length ? {} : foreign.headers;
        bus.publish(subject, body, { ...headers, 'X-Canary': `${stream}-${i}`, 'Nats-Msg-Id': `${stream}-${i}` });
      }
      await bus.flush();
      const taskId = await p.submit('one-step', { candidates: 1 });
      expect((await p.client.result(taskId)).state).toBe('completed');
      const found = await waitFor(`letters of ${stream}`, async () => {
        const rows = (await letters(p.platform)).filter(
          (letter) => letter.stream === stream && letter.task_id === null,
        );
        return rows.length >= poison.length && rows;
      });
      await expectConserved(p.platform);
      const canary = (letter: LetterFacts) => letter.headers['X-Canary']?.[0] ?? '';
      const byCanary = new Map(found.map((letter) => [canary(letter), letter]));
      expect((await letters(p.platform)).filter((letter) => letter.stream === stream)).toHaveLength(poison.length);
      for (const [i, body] of poison.entries()) {
        const letter = byCanary.get(`${stream}-${i}`);
        expect(letter).toMatchObject({ tenant_id: 'acme', subject, status: 'open' });
        expect(letter?.body?.equals(body)).toBe(true);
        expect(letter?.headers['Nats-Msg-Id']).toEqual([`${stream}-${i}`]);
      }
      expect(byCanary.get(`${stream}-4`)?.reason).toBe('TENANT_MISMATCH');
      expect(p.platform.services.map(({ pid, exit }) => [pid, exit])).toEqual(pids.map((pid) => [pid, undefined]));
    },
  );

  test('a doorbell with an unreadable body ends its attempt with the bytes in the letter; a replay completes the task', async () => {
    await p.platform.service('analyzer').stop();
    const taskId = await p.submit('one-step', {});
    const [doorbell] = await waitFor('the doorbell', async () => {
      const rows = await p.sql<{ doorbell_seq: number }>(
        'SELECT doorbell_seq FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1 AND doorbell_seq IS NOT NULL',
        [taskId],
      );
      return rows.length > 0 && rows;
    });
    await garble(Number(doorbell?.doorbell_seq), 'not json');
    await p.startWorker();
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'UNPARSEABLE' } });
    expect(p.deeds(taskId)).toEqual([]);
    const [letter, ...others] = await lettersOf(p.platform, taskId);
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ reason: 'UNPARSEABLE', step_id: 'work', attempt: 1, status: 'open' });
    expect(letter?.body?.toString()).toBe('not json');
    await p.client.deadLetters.replay(letter?.letter_id ?? '');
    expect((await p.client.result(taskId)).state).toBe('completed');
    await expectConserved(p.platform);
  });

  test('an unreadable report ends the attempt that its message id names', async () => {
    const taskId = await p.submit('one-step', { hang: true });
    await p.deed(taskId, 'start');
    const [step] = await stepsOf(p.platform, taskId);
    const fence = { epoch: 1, tenantId: 'acme', taskId, stepId: 'work', attempt: 1, claimId: step?.claim_id ?? '' };
    worker.publish(`rpt.analyzer.acme.${taskId}`, Buffer.from('{"p":'), { 'Nats-Msg-Id': toReportId(fence) });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'UNPARSEABLE' } });
    const [letter, ...others] = await lettersOf(p.platform, taskId);
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ step_id: 'work', attempt: 1, reason: 'UNPARSEABLE' });
    expect(letter?.body?.toString()).toBe('{"p":');
    // Whoever worked on it is told to stop.
    await p.deed(taskId, 'aborted');
    await expectConserved(p.platform);
  });
});

type Channel = { bus: Bus; subject: string; foreign: { body: Uint8Array; headers?: Record<string, string> } };

/** Where poison comes from, and a sound message of another tenant for the same subject. */
function channel(stream: string): Channel {
  const fence = { epoch: 1, tenantId: 'globex', taskId: 't-1', stepId: 'work', attempt: 1, claimId: 'c-1' };
  const attributes = { ...toAttributes(`foreign-${stream}`, fence), candidateid: 'cand-1' };
  if (stream === 'INTAKE') {
    const { id, source, time, tenantid } = attributes;
    const body = encodeMessage(TaskSubmit, { id, source, time, tenantid }, { workflow: 'noop', input: {} });
    return { bus: p.client.bus, subject: 'cmd.task.acme', foreign: { body } };
  }
  if (stream === 'COMMANDS') {
    const headers = { 'Cs-Tenant': 'globex', 'Cs-Task': 't-1', 'Cs-Step': 'work', 'Cs-Attempt': '1', 'Cs-Epoch': '1' };
    return { bus: scheduler, subject: 'cmd.work.analyzer.acme.t-1', foreign: { body: Buffer.from('{}'), headers } };
  }
  if (stream === 'REPORTS') {
    const body = encodeMessage(StepReport, attributes, { outcome: 'released', reason: 'drain' });
    return { bus: worker, subject: 'rpt.analyzer.acme.t-1', foreign: { body } };
  }
  const body = encodeMessage(KnowledgePropose, attributes, aCandidate('foreign'));
  return { bus: worker, subject: 'blackboard.acme.t-1', foreign: { body } };
}

/** Puts other bytes in the place of a command that nobody has taken yet. */
async function garble(seq: number, body: string): Promise<void> {
  const { raw } = await adminOf(p.platform);
  const ask = async (verb: string) =>
    await raw.request(`$JS.API.STREAM.MSG.${verb}.COMMANDS`, JSON.stringify({ seq }), { timeout: 30_000 });
  const { message } = (await ask('GET')).json<{ message: { subject: string; hdrs: string } }>();
  const lines = Buffer.from(message.hdrs, 'base64').toString().split('\r\n').slice(1);
  const headers = Object.fromEntries(
    lines.flatMap((line) => {
      const [name, value] = line.split(': ');
      return name && value && name !== 'Nats-Msg-Id' ? [[name, value]] : [];
    }),
  );
  await ask('DELETE');
  scheduler.publish(message.subject, Buffer.from(body), headers);
  await scheduler.flush();
}
