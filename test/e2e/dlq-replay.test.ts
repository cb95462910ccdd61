import { Publisher } from '@cleanslate/bus';
import { encodeMessage, type Fence, KnowledgePropose, TaskSubmit, toReportId } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, expectConserved } from '../fixtures/conservation.ts';
import { lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
import { LETTER_WORKFLOWS } from '../fixtures/letter-workflows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { aCandidate, encodeReport } from '../fixtures/worker-messages.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workflows: LETTER_WORKFLOWS });
});
afterAll(() => p[Symbol.asyncDispose]());

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const refused = { code: 'MODEL_REFUSED', disposition: 'terminal' } as const;
const show = (id: string) => p.client.deadLetters.show(id);
const replay = (id: string, options = {}) => p.client.deadLetters.replay(id, options);

describe('a step’s letter', () => {
  test('a dry run changes nothing; an edit is checked against the plan first, then is the input; the bytes stay', async () => {
    const taskId = await failed({ failFirst: 99, failWith: refused });
    const id = await letterOf(taskId);
    const before = await show(id);
    expect(await replay(id, { dryRun: true })).toEqual({ letterId: id, taskId, attempt: 2 });
    for (const input of [{ script: {} }, { script: {}, feedback: null, colour: 'red' }])
      await expect(replay(id, { edit: { input } })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(replay(id, { edit: { body: 'AAAA' } })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await show(id)).toEqual(before);
    const input = { script: { bytes: 7 }, feedback: null };
    expect(await replay(id, { edit: { input } })).toMatchObject({ attempt: 2 });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'completed', result: { text: 'xxxxxxx' } });
    const after = await show(id);
    expect(after).toMatchObject({ status: 'closed', outcome: 'succeeded', body: before.body, replays: 1 });
    expect(JSON.parse(Buffer.from(after.edited ?? '', 'base64').toString())).toEqual(input);
    expect(after.history.map((entry) => entry.what)).toEqual(['attempt_failed', 'given_up', 'replayed_edited']);
    await expect(replay(id)).rejects.toMatchObject({ code: 'ALREADY_REPLAYED' });
    await expect(replay(id, { force: true })).rejects.toMatchObject({ code: 'ALREADY_COMPLETED' });
  });

  test('B5: after three bulk replays it needs a person; every reason, the first failure and the count are kept, headers don’t grow', async () => {
    const taskId = await failed({ failUntil: 'b5', failWith: refused });
    const ids = [await letterOf(taskId)];
    const first = await show(ids[0] ?? '');
    const sizes: number[] = [];
    for (let attempt = 2; attempt <= 4; attempt++) {
      await replay(ids.at(-1) ?? '', { batch: 'night' });
      ids.push(await letterOf(taskId, attempt));
      await p.client.result(taskId);
      sizes.push(JSON.stringify((await show(ids.at(-1) ?? '')).headers).length);
    }
    const last = await show(ids.at(-1) ?? '');
    expect(last).toMatchObject({ status: 'open', needsHuman: true, replays: 3, firstFailedAt: first.firstFailedAt });
    expect(last).toMatchObject({ lineage: first.letterId, replayOf: ids.at(-2) });
    expect(last.history.filter((entry) => entry.what === 'attempt_failed').map((entry) => entry.attempt)).toEqual([
      1, 2, 3, 4,
    ]);
    expect(last.history.filter((entry) => entry.what === 'replayed')).toHaveLength(3);
    expect(new Set(sizes).size).toBe(1);
    await expect(replay(last.letterId, { batch: 'night' })).rejects.toMatchObject({ code: 'NEEDS_HUMAN' });
    const parked = await p.client.deadLetters.list({ needsHuman: true, status: 'open' });
    expect(parked.letters.map((letter) => letter.letterId)).toEqual([last.letterId]);
    const again = await p.client.deadLetters.list({ batch: 'night', outcome: 'failed_again' });
    expect(again.letters).toHaveLength(3);
    p.openGate('b5');
    await replay(last.letterId);
    expect((await p.client.result(taskId)).state).toBe('completed');
  });

  test('B11: the exhausted attempt’s late report is ignored; the replay decides', async () => {
    const taskId = await p.submit('brief', { hang: true, deaf: true });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'ATTEMPTS_EXHAUSTED' } });
    const [step] = await stepsOf(p.platform, taskId);
    const id = await letterOf(taskId);
    const input = { script: { gate: 'b11' }, feedback: null };
    const { attempt } = await replay(id, { edit: { input } });
    await p.deed(taskId, 'start', attempt ?? 0);
    const late = { epoch: 1, tenantId: 'acme', taskId, stepId: 'work', attempt: 2, claimId: step?.claim_id ?? '' };
    await report(late, { text: 'late', round: 1, feedback: null });
    await waitFor('the late report refused', async () => {
      const rows = await p.sql(`SELECT FROM ledger.refusals WHERE task_id = $1 AND code = 'STALE_ATTEMPT'`, [taskId]);
      return rows.length > 0;
    });
    expect((await show(id)).status).toBe('replaying');
    p.openGate('b11');
    expect(await p.client.result(taskId)).toMatchObject({ state: 'completed', result: { text: 'xxxx' } });
    expect((await show(id)).status).toBe('closed');
  });

  test('B2: two replays at once are one attempt and one effect; while it runs, none can be forced', async () => {
    const taskId = await failed({ failFirst: 1, failWith: refused, gate: 'b2' });
    const id = await letterOf(taskId);
    const answers = await Promise.allSettled([replay(id), replay(id), replay(id)]);
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1);
    // In one transaction the machine says it, in two the letter.
    for (const answer of answers)
      if (answer.status === 'rejected')
        expect(['ALREADY_REPLAYED', 'ILLEGAL_TRANSITION']).toContain(answer.reason.code);
    await p.deed(taskId, 'start', 2);
    await expect(replay(id, { force: true })).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    p.openGate('b2');
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(p.deeds(taskId).filter((deed) => deed.what === 'effect')).toMatchObject([{ attempt: 2 }]);
    await expect(replay(id, { force: true })).rejects.toMatchObject({ code: 'ALREADY_COMPLETED' });
  });

  test('called off before its end it is open again; discarded with a reason it stays in the record', async () => {
    const taskId = await failed({ failFirst: 1, failWith: refused, gate: 'never' });
    const id = await letterOf(taskId);
    await replay(id);
    await p.deed(taskId, 'start', 2);
    await expect(p.client.deadLetters.discard(id, 'no')).rejects.toMatchObject({ code: 'ALREADY_REPLAYED' });
    await p.client.cancel(taskId);
    await p.client.result(taskId);
    expect(await show(id)).toMatchObject({ status: 'open', replays: 1 });
    expect(await p.client.deadLetters.discard(id, 'the order was withdrawn')).toEqual({ letterId: id, changed: true });
    expect(await p.client.deadLetters.discard(id, 'again')).toEqual({ letterId: id, changed: false });
    const letter = await show(id);
    expect(letter).toMatchObject({ status: 'discarded' });
    expect(letter.history.at(-1)?.what).toBe('discarded: the order was withdrawn');
    await expect(replay(id, { force: true })).rejects.toMatchObject({ code: 'ALREADY_REPLAYED' });
    const globex = await p.platform.client('globex');
    await expect(globex.deadLetters.discard(id, 'not mine')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a message’s letter', () => {
  test('B8: a submit is read from its original bytes; unreadable it is refused by name and stays; mended it becomes its task', async () => {
    const submit = (id: string, version: string) => {
      const attributes = { id, source: '/test', time: new Date().toISOString(), tenantid: 'acme', taskid: id };
      const data = { workflow: 'given-up', input: { script: {} } };
      return Buffer.from(encodeMessage(TaskSubmit, attributes, data))
        .toString()
        .replaceAll('task.submit.v1', version);
    };
    await writeLetter('INTAKE', 'cmd.task.acme', submit('b8-newer', 'task.submit.v7'));
    await writeLetter('INTAKE', 'cmd.task.acme', '{"p":');
    const [newer = '', garbage = ''] = await messageLetters('INTAKE');
    await expect(replay(newer)).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
    await expect(replay(garbage)).rejects.toMatchObject({ code: 'UNPARSEABLE' });
    expect(await show(newer)).toMatchObject({ status: 'open', replays: 0 });
    const foreign = submit('b8-mended', 'task.submit.v1').replaceAll('"acme"', '"globex"');
    await expect(replay(garbage, { edit: { body: base64(foreign) } })).rejects.toMatchObject({
      code: 'TENANT_MISMATCH',
    });
    const body = base64(submit('b8-mended', 'task.submit.v1'));
    expect(await replay(garbage, { edit: { body }, dryRun: true })).toMatchObject({ taskId: 'b8-mended' });
    // B2: the replay and the sender's own repetition at once are one task.
    const request = { workflow: 'given-up', input: { script: {} }, taskId: 'b8-mended' };
    const [replayed] = await Promise.all([replay(garbage, { edit: { body } }), p.client.submit(request)]);
    expect(replayed).toMatchObject({ taskId: 'b8-mended', attempt: null });
    expect(p.deeds('b8-mended').filter((deed) => deed.what === 'start').length).toBeLessThan(2);
    expect((await p.client.result('b8-mended')).state).toBe('completed');
    expect(await show(garbage)).toMatchObject({ status: 'closed', body: base64('{"p":'), edited: body });
    // The same key with another body is refused by the ledger itself: the letter stays open, and its story tells.
    const conflict = base64(submit('b8-mended', 'task.submit.v1').replace('"script":{}', '"script":{"bytes":5}'));
    await expect(replay(newer, { edit: { body: conflict } })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    expect(await show(newer)).toMatchObject({ status: 'open', replays: 1 });
    expect((await show(newer)).history.at(-1)).toMatchObject({ what: 'replay_refused' });
  });

  test('B6, B13: candidates go back to their subject in order, with all headers; what fails again goes on in one letter', async () => {
    const taskId = await p.submit('one-step', { candidates: 1 });
    await p.client.result(taskId);
    const subject = `blackboard.acme.${taskId}`;
    const bad = Buffer.from('{"p":');
    const worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
    const sender = new Publisher(worker);
    const headers = { traceparent: TRACE, 'X-Two': ['a', 'b'] };
    await sender.publish({ stream: 'BLACKBOARD', subject, body: bad, messageId: 'b6', headers });
    sender.close();
    const [id = ''] = await messageLetters('BLACKBOARD');
    await expect(replay(id)).rejects.toMatchObject({ code: 'UNPARSEABLE' });
    // What its maintainer refuses, although it reads as a proposal: no claim in the envelope.
    const edited = candidate(taskId, {});
    await p.platform.service('knowledge-maintainer').kill('SIGSTOP');
    await replay(id, { edit: { body: edited } });
    // The first one may still lie there for a moment.
    const stored = await waitFor('the message back in its stream', async () => {
      const last = await lastMessage('BLACKBOARD', subject);
      return last?.data === edited && last;
    });
    for (const line of [`traceparent: ${TRACE}`, 'X-Two: a', 'X-Two: b']) expect(stored.headers).toContain(line);
    expect(stored.headers).toContain(`Cs-Replay-Of: ${id}`);
    expect(await show(id)).toMatchObject({ status: 'replaying' });
    await p.platform.service('knowledge-maintainer').kill('SIGCONT');
    const [, second = ''] = await waitFor('the second letter', async () => {
      const found = await messageLetters('BLACKBOARD');
      return found.length > 1 && found;
    });
    await waitFor('the first closed', async () => (await show(id)).status === 'closed');
    expect(await show(second)).toMatchObject({ replayOf: id, lineage: id, replays: 1, status: 'open' });
    const claim = { stepid: 'work', attempt: 1, claimid: 'c-1', candidateid: 'late-1', epoch: 1 };
    await replay(second, { edit: { body: candidate(taskId, claim) } });
    await waitFor('consumed', async () => (await show(second)).outcome === 'succeeded');
    expect(await p.sql(`SELECT FROM knowledge.candidates WHERE candidate_id = 'late-1'`)).toHaveLength(1);
    await worker.close();
  });

  test('a report whose attempt is over, an edited one and a command are refused with the reason', async () => {
    const taskId = await p.submit('one-step', {});
    await p.client.result(taskId);
    const fence = { epoch: 1, tenantId: 'acme', taskId, stepId: 'work', attempt: 1, claimId: 'nobody' };
    const body = encodeReport(fence, { outcome: 'released', reason: 'drain' });
    await writeLetter('REPORTS', `rpt.analyzer.acme.${taskId}`, Buffer.from(body).toString());
    await writeLetter('COMMANDS', `cmd.work.analyzer.acme.${taskId}`, '{}');
    const [reported = ''] = await messageLetters('REPORTS');
    const [command = ''] = await messageLetters('COMMANDS');
    await expect(replay(reported)).rejects.toMatchObject({ code: 'STALE_ATTEMPT' });
    await expect(replay(reported, { edit: { body: 'AAAA' } })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(replay(command)).rejects.toThrow(/derived from the ledger/);
    expect(await show(reported)).toMatchObject({ status: 'open', replays: 1 });
  });

  test('nothing is left over', () => expectConserved(p.platform));
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function failed(script: Parameters<ScriptedPlatform['submit']>[1]): Promise<string> {
  const taskId = await p.submit('given-up', script);
  expect((await p.client.result(taskId)).state).toBe('failed');
  return taskId;
}

async function letterOf(taskId: string, attempt?: number): Promise<string> {
  return await waitFor('the letter', async () => {
    const found = await lettersOf(p.platform, taskId);
    return found.find((letter) => attempt === undefined || letter.attempt === attempt)?.letter_id;
  });
}

/** Letters of messages, in the order in which they came. */
async function messageLetters(stream: string): Promise<string[]> {
  return await waitFor(`letters of ${stream}`, async () => {
    const rows = await p.sql<{ letter_id: string }>(
      'SELECT letter_id FROM ledger.dead_letters WHERE stream = $1 AND task_id IS NULL ORDER BY last_failed_at, letter_id',
      [stream],
    );
    return rows.length > 0 && rows.map((row) => row.letter_id);
  });
}

let n = 1_000_000;
/** A letter as an earlier version of a service left it. */
async function writeLetter(stream: string, subject: string, body: string): Promise<void> {
  await p.sql(
    `INSERT INTO ledger.dead_letters (letter_id, tenant_id, stream, stream_created, stream_sequence, subject, headers, body, reason, error, history, first_failed_at, last_failed_at)
     VALUES ($1, 'acme', $2, now(), $3, $4, '{}', $5, 'UNPARSEABLE', '{"code":"UNPARSEABLE","disposition":"terminal","message":"x"}', '[]', now(), now())`,
    [`${stream}.test.${++n}`, stream, n, subject, Buffer.from(body)],
  );
}

async function report(fence: Fence, output: Record<string, unknown>): Promise<void> {
  const body = encodeReport(fence, { outcome: 'succeeded', output, usage: { durationMs: 1 }, candidates: [] });
  const worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
  worker.publish(`rpt.analyzer.acme.${fence.taskId}`, body, { 'Nats-Msg-Id': `late:${toReportId(fence)}` });
  await worker.close();
}

function candidate(taskid: string, claim: object): string {
  const attributes = {
    id: `c-${Object.keys(claim).length}`,
    source: '/test',
    time: new Date().toISOString(),
    tenantid: 'acme',
    taskid,
    ...claim,
  };
  const body = encodeMessage(KnowledgePropose, attributes, aCandidate('late'));
  return Buffer.from(body).toString('base64');
}

async function lastMessage(stream: string, subject: string) {
  const { raw } = await adminOf(p.platform);
  const body = JSON.stringify({ last_by_subj: subject });
  const { message } = (await raw.request(`$JS.API.STREAM.MSG.GET.${stream}`, body, { timeout: 30_000 })).json<{
    message?: { data: string; hdrs: string };
  }>();
  return message && { data: message.data, headers: Buffer.from(message.hdrs, 'base64').toString() };
}
