import { CandidatesSettled, encodeMessage, KnowledgePropose, TaskSubmit } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, expectConserved } from '../fixtures/conservation.ts';
import { lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

// Cases of group B of docs/failure-cases.md about old letters, their one reader and their order.

const PRELOAD = new URL('../fixtures/next-contracts.ts', import.meta.url).href;
const deployed = (NEXT: string) => ({ NODE_OPTIONS: `--import ${PRELOAD}`, NEXT, NEXT_OF: 'submit' });

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl') });
});
afterAll(() => p[Symbol.asyncDispose]());

const show = (id: string) => p.client.deadLetters.show(id);
const replay = (id: string) => p.client.deadLetters.replay(id);
const head = (id: string, taskid: string, time = new Date()) => ({
  id,
  source: '/test',
  time: time.toISOString(),
  tenantid: 'acme',
  taskid,
});

describe('B8: a letter of an older version', () => {
  const letterOf = async (taskId: string) => {
    const body = Buffer.from(
      encodeMessage(TaskSubmit, head(taskId, taskId), { workflow: 'one-step', input: { script: {} } }),
    );
    return { id: await writeLetter('INTAKE', 'scheduler-intake', 'cmd.task.acme', body), body };
  };

  test('B8: without an upcaster its replay is refused by name, and it stays', async () => {
    const { id, body } = await letterOf('b8-none');
    await replaceScheduler(deployed('no-upcaster'));
    await expect(replay(id)).rejects.toMatchObject({
      message: expect.stringContaining('no upcaster task.submit v1→v2'),
    });
    expect(await show(id)).toMatchObject({ status: 'open', replays: 0, body: body.toString('base64'), edited: null });
  });

  test('B8: with one it is read from the original bytes, and becomes its task', async () => {
    const { id, body } = await letterOf('b8-upcast');
    await replaceScheduler(deployed('upcaster'));
    expect(await replay(id)).toMatchObject({ taskId: 'b8-upcast' });
    expect((await p.client.result('b8-upcast')).state).toBe('completed');
    expect(await show(id)).toMatchObject({ status: 'closed', body: body.toString('base64'), edited: null });
    await replaceScheduler({});
  });
});

describe('B9: a replay repeats nothing that succeeded', () => {
  test('B9: of a step it runs that step, and no sibling; the letter names it', async () => {
    const taskId = await p.submit('four-steps', {
      failUntil: 'b9',
      failWith: { code: 'REFUSED', disposition: 'terminal' },
    });
    await p.client.result(taskId);
    const [letter] = await lettersOf(p.platform, taskId);
    expect(letter).toMatchObject({ step_id: 'one', attempt: 1 });
    p.openGate('b9');
    await replay(letter?.letter_id ?? '');
    expect((await p.client.result(taskId)).state).toBe('completed');
    const effects = p.deeds(taskId).filter(({ what }) => what === 'effect');
    expect(effects.map(({ stepId, attempt }) => [stepId, attempt])).toEqual([
      ['one', 2],
      ['two', 1],
      ['three', 1],
      ['four', 1],
    ]);
  });

  test('B9: of a message it goes to the one reader that failed, not to the others of its stream', async () => {
    const taskId = await proposed();
    await waitFor('all of it told', async () => {
      const open = await p.sql('SELECT FROM ledger.settlements WHERE settled_at IS NULL');
      return open.length === 0 && (await p.sql('SELECT FROM knowledge.outbox')).length === 0;
    });
    const settled = encodeMessage(CandidatesSettled, head('again', taskId), {
      taskId,
      revision: 1,
      outcomes: [],
      missing: [],
    });
    const id = await writeLetter('EVENTS', 'scheduler-settled', 'evt.knowledge.acme.settled', Buffer.from(settled));
    const before = await lastSequence('EVENTS');
    expect((await show(id)).consumer).toBe('scheduler-settled');
    await replay(id);
    expect(await show(id)).toMatchObject({ status: 'closed', outcome: 'succeeded' });
    expect(await lastSequence('EVENTS')).toBe(before);
  });
});

describe('B13: order of what is replayed', () => {
  test('B13: an old saying that comes back after newer ones does not overwrite them', async () => {
    const taskId = await proposed();
    const at = (n: number) => new Date(Date.now() - 60_000 + 1_000 * n);
    for (const n of [6, 7, 8]) await say(await saying(taskId, 'late', n, at(n)));
    await believed('late', '8');
    const body = await saying(taskId, 'late', 5, at(5));
    const id = await writeLetter('BLACKBOARD', 'maintainer-blackboard', `blackboard.acme.${taskId}`, body);
    await replay(id);
    await waitFor('taken', async () => (await show(id)).outcome === 'succeeded');
    await waitFor('decided', async () => (await decided('late-5')) === 1);
    expect(await currentValue('late')).toBe('8');
  });

  test('B13: three of them replayed the wrong way round end as they were said', async () => {
    const taskId = await proposed();
    const ids: string[] = [];
    for (const n of [5, 6, 7]) {
      const body = await saying(taskId, 'turned', n, new Date(Date.now() - 60_000 + 1_000 * n));
      ids.push(await writeLetter('BLACKBOARD', 'maintainer-blackboard', `blackboard.acme.${taskId}`, body));
    }
    for (const id of ids.toReversed()) await replay(id);
    await waitFor('all decided', async () => (await decided('turned-%')) === 3);
    expect(await currentValue('turned')).toBe('7');
  });

  test('nothing is left over', () => expectConserved(p.platform));
});

/** A finished task whose settlement the maintainer knows: what its winning claim says later is decided at once. */
async function proposed(): Promise<string> {
  const taskId = await p.submit('one-step', { candidates: 1 });
  expect((await p.client.result(taskId)).state).toBe('completed');
  await waitFor('settled', async () => {
    return (await p.sql(`SELECT FROM knowledge.candidates WHERE task_id = $1 AND state = 'settled'`, [taskId])).length;
  });
  return taskId;
}

async function saying(taskId: string, subject: string, n: number, time: Date): Promise<Buffer> {
  const [step] = await stepsOf(p.platform, taskId);
  const candidateid = `${subject}-${n}`;
  const claim = { stepid: 'work', attempt: 1, claimid: step?.claim_id ?? '', candidateid, epoch: 1 };
  const body = encodeMessage(
    KnowledgePropose,
    { ...head(candidateid, taskId, time), ...claim },
    {
      statement: `${subject} is ${n}`,
      knowledgeType: 'conclusion',
      sourceType: 'internal_document',
      assertion: { subject, predicate: 'is', value: String(n), unit: null, polarity: 'positive', modality: 'is' },
      sourceRef: `task:${taskId}`,
      confidence: 0.95,
      importance: 0.5,
      derivedFrom: [],
      tags: [],
    },
  );
  return Buffer.from(body);
}

async function say(body: Buffer): Promise<void> {
  const { taskid } = JSON.parse(body.toString()) as { taskid: string };
  const worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
  worker.publish(`blackboard.acme.${taskid}`, body);
  await worker.close();
}

async function currentValue(subject: string): Promise<string | undefined> {
  const { facts } = await p.client.facts.asOf();
  const about = facts.filter(({ assertion }) => assertion?.subject === subject);
  expect(about.length).toBeLessThanOrEqual(1);
  return about[0]?.assertion?.value;
}

const believed = (subject: string, value: string) =>
  waitFor(`"${subject}" is ${value}`, async () => (await currentValue(subject)) === value);

async function decided(candidateId: string): Promise<number> {
  const rows = await p.sql(`SELECT FROM knowledge.candidates WHERE candidate_id LIKE $1 AND state = 'settled'`, [
    candidateId,
  ]);
  return rows.length;
}

let n = 2_000_000;
/** A letter as an earlier deployment left it. */
async function writeLetter(stream: string, consumer: string, subject: string, body: Buffer): Promise<string> {
  const id = `${stream}.test.${++n}`;
  await p.sql(
    `INSERT INTO ledger.dead_letters (letter_id, tenant_id, stream, stream_created, stream_sequence, consumer, subject, headers, body, reason, error, history, first_failed_at, last_failed_at)
     VALUES ($1, 'acme', $2, now(), $3, $4, $5, '{}', $6, 'UNPARSEABLE', '{"code":"UNPARSEABLE","disposition":"terminal","message":"x"}', '[]', now(), now())`,
    [id, stream, n, consumer, subject, body],
  );
  return id;
}

async function lastSequence(stream: string): Promise<number> {
  const { raw } = await adminOf(p.platform);
  const reply = await raw.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: 30_000 });
  return reply.json<{ state: { last_seq: number } }>().state.last_seq;
}

async function replaceScheduler(env: Readonly<Record<string, string>>): Promise<void> {
  const running = p.platform.services.filter(({ name, exit }) => name === 'scheduler' && exit === undefined);
  for (const service of running) expect(await service.stop(60_000)).toEqual({ code: 0, signal: null });
  await p.platform.start('scheduler', env);
}
