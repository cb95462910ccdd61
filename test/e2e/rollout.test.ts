import { encodeMessage, KnowledgePropose, SubmitRefused, TaskSubmit } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, countMessages, expectConserved } from '../fixtures/conservation.ts';
import { letters } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { aCandidate, toAttributes } from '../fixtures/worker-messages.ts';

const PRELOAD = new URL('../fixtures/next-contracts.ts', import.meta.url).href;
const next = (NEXT: 'additive' | 'breaking') => ({
  NODE_OPTIONS: `--import ${PRELOAD}`,
  NEXT,
  NEXT_OF: 'knowledge',
});
type Name = 'scheduler' | 'knowledge-maintainer';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), env: { ROLLOUT_MS: '2000' } });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('a message of no attempt, in a version that its reader does not know yet', () => {
  test('is handed back during the rollout window and then is exactly one letter, with its bytes', async () => {
    const taskId = await done();
    const body = candidate(taskId, 'never-read', 'knowledge.propose.v7');
    await say(`blackboard.acme.${taskId}`, body);
    const before = await delivered('BLACKBOARD', 'maintainer-blackboard');
    await waitFor('its letter', async () => (await lettersAt(`blackboard.acme.${taskId}`)).length > 0);
    // One delivery, and four more that the window allows.
    expect((await delivered('BLACKBOARD', 'maintainer-blackboard')) - before).toBeGreaterThanOrEqual(3);
    const [letter, ...others] = await lettersAt(`blackboard.acme.${taskId}`);
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ reason: 'UNSUPPORTED_VERSION', status: 'open' });
    expect(letter?.body?.equals(body)).toBe(true);
    expect(await countMessages(p.platform, 'BLACKBOARD')).toBe(0);
    await expect(p.client.deadLetters.replay(letter?.letter_id ?? '')).rejects.toMatchObject({
      code: 'UNSUPPORTED_VERSION',
    });
  });

  test('is read by the upgraded one that comes within the window', async () => {
    const taskId = await done();
    await replace('knowledge-maintainer', { ROLLOUT_MS: '60000' });
    const before = await delivered('BLACKBOARD', 'maintainer-blackboard');
    await say(`blackboard.acme.${taskId}`, candidate(taskId, 'read-later', 'knowledge.propose.v2'));
    await waitFor('it was handed back', async () => {
      return (await delivered('BLACKBOARD', 'maintainer-blackboard')) > before;
    });
    expect(await p.sql(`SELECT FROM knowledge.candidates WHERE candidate_id = 'read-later'`)).toEqual([]);
    await replace('knowledge-maintainer', next('breaking'));
    await waitFor('the candidate', async () => {
      return (await p.sql(`SELECT FROM knowledge.candidates WHERE candidate_id = 'read-later'`)).length === 1;
    });
    expect(await lettersAt(`blackboard.acme.${taskId}`)).toEqual([]);
  });

  test('of a submit is answered after some seconds, and kept for the scheduler that will read it', async () => {
    const attributes = {
      id: 'v7',
      source: '/test',
      time: new Date().toISOString(),
      tenantid: 'acme',
      taskid: 'too-new',
    };
    const body = Buffer.from(encodeMessage(TaskSubmit, attributes, { workflow: 'one-step', input: { script: {} } }))
      .toString()
      .replace('task.submit.v1', 'task.submit.v7');
    const answers: unknown[] = [];
    p.client.bus.subscribe('evt.task.acme.too-new', (message) => answers.push(message.json()));
    await p.client.bus.flush();
    p.client.bus.publish('cmd.task.acme', Buffer.from(body));
    await waitFor('its answer', () => answers.length > 0);
    expect(answers).toMatchObject([
      { type: `${SubmitRefused.name}.v1`, causationid: 'v7', data: { error: { code: 'UNSUPPORTED_VERSION' } } },
    ]);
    const [letter] = await waitFor('its letter', async () => {
      const found = await lettersAt('cmd.task.acme');
      return found.length > 0 && found;
    });
    expect(letter?.body?.toString()).toBe(body);
  });
});

describe('a mixed fleet of scheduler and maintainer', () => {
  test.each([
    ['the scheduler', 'scheduler'],
    ['the maintainer', 'knowledge-maintainer'],
  ] as const)('one field more: %s ahead, candidates are settled both ways', async (_, name) => {
    const other = name === 'scheduler' ? 'knowledge-maintainer' : 'scheduler';
    await replace(other, {});
    await replace(name, next('additive'));
    const taskId = await done({ candidates: 1 });
    await settled(taskId);
    const spoke = await lastOn('EVENTS', 'evt.knowledge.acme.settled');
    expect(spoke).toMatchObject({ type: `candidates.settled.${name === 'scheduler' ? 'v1' : 'v2'}` });
    expect(await letterCodes(taskId)).toEqual([]);
  });

  test('a confirmation that the scheduler can’t read yet is said until one can', async () => {
    await replace('scheduler', { ROLLOUT_MS: '60000' });
    await replace('knowledge-maintainer', next('breaking'));
    // The commands of the old scheduler are read by the new maintainer; its answer waits.
    const taskId = await done({ candidates: 1 });
    await waitFor('the candidate settled', async () => {
      return (await p.sql(`SELECT FROM knowledge.candidates WHERE task_id = $1 AND state = 'settled'`, [taskId]))
        .length;
    });
    const open = () => p.sql('SELECT FROM ledger.settlements WHERE task_id = $1 AND settled_at IS NULL', [taskId]);
    expect(await open()).toHaveLength(1);
    await replace('scheduler', next('breaking'));
    await settled(taskId);
    expect(await letterCodes(taskId)).toEqual([]);
  });

  test('nothing is left over', () => expectConserved(p.platform));
});

async function done(script: Parameters<ScriptedPlatform['submit']>[1] = {}): Promise<string> {
  const taskId = await p.submit('one-step', script);
  expect((await p.client.result(taskId)).state).toBe('completed');
  return taskId;
}

async function settled(taskId: string): Promise<void> {
  await waitFor('the settlement confirmed', async () => {
    const rows = await p.sql('SELECT FROM ledger.settlements WHERE task_id = $1 AND settled_at IS NOT NULL', [taskId]);
    return rows.length === 1;
  });
}

async function replace(name: Name, env: Readonly<Record<string, string>>): Promise<void> {
  const running = p.platform.services.filter((service) => service.name === name && service.exit === undefined);
  for (const service of running) expect(await service.stop(60_000)).toEqual({ code: 0, signal: null });
  await p.platform.start(name, env);
}

function candidate(taskId: string, candidateId: string, type: string): Buffer {
  const fence = { epoch: 1, tenantId: 'acme', taskId, stepId: 'work', attempt: 1, claimId: 'c-1' };
  const attributes = { ...toAttributes(candidateId, fence), candidateid: candidateId };
  const body = encodeMessage(KnowledgePropose, attributes, aCandidate('new'));
  return Buffer.from(Buffer.from(body).toString().replace('knowledge.propose.v1', type));
}

async function say(subject: string, body: Uint8Array): Promise<void> {
  const worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
  worker.publish(subject, body);
  await worker.close();
}

async function delivered(stream: string, durable: string): Promise<number> {
  const manager = await jetstreamManager((await adminOf(p.platform)).raw, { checkAPI: false, timeout: 30_000 });
  return (await manager.consumers.info(stream, durable)).delivered.consumer_seq;
}

async function lastOn(stream: string, subject: string): Promise<unknown> {
  const { raw } = await adminOf(p.platform);
  const reply = await raw.request(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ last_by_subj: subject }), {
    timeout: 30_000,
  });
  const { message } = reply.json<{ message?: { data: string } }>();
  return message && (JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')) as unknown);
}

const lettersAt = async (subject: string) => (await letters(p.platform)).filter((letter) => letter.subject === subject);
const letterCodes = async (taskId: string) =>
  (await letters(p.platform)).filter(({ task_id }) => task_id === taskId).map(({ reason }) => reason);
