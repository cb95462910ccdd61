import { setTimeout as sleep } from 'node:timers/promises';
import { callEndpoint } from '@cleanslate/bus';
import type { Client } from '@cleanslate/client';
import { AppError, type Fence, SessionRead, SessionWrite } from '@cleanslate/contracts';
import { remember, type StepContext } from '@cleanslate/runtime';
import { openDatabase, withTransaction } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Act, CHAT_WORKFLOWS, startChatWorkers } from '../fixtures/chat-agents.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

// Sessions over real parts: workers with their own credentials, the scheduler's process, the
// database's row-level security.

let p: ScriptedPlatform;
let workers: AsyncDisposable;
let globex: Client;
const acts = new Map<string, Act>();
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workers: [], workflows: CHAT_WORKFLOWS });
  workers = await startChatWorkers(p.platform, acts);
  globex = await p.platform.client('globex');
});
afterAll(async () => {
  await workers?.[Symbol.asyncDispose]();
  await p?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  acts.clear();
  acts.set('answer:read', async (ctx, id) => (await ctx.session(id).list()).map(({ text }) => text));
  acts.set('answer:say', async (ctx, id) => say(ctx, id, 'user', `question of ${ctx.taskId}`));
});

let sessions = 0;
const newSession = () => `chat-${++sessions}`;
const say = (ctx: StepContext, id: string, from: 'user' | 'agent', ...texts: string[]) => {
  ctx.session(id).append(...texts.map((text) => ({ from, text })));
  return texts;
};
async function run(
  act: string,
  session: string,
  options: { readonly workflow?: string; readonly client?: Client } = {},
) {
  const { workflow = 'chat', client = p.client } = options;
  const { taskId } = await client.submit({ workflow, input: { act, session } });
  const task = await client.result(taskId);
  return { taskId, state: task.state, code: task.error?.code, said: (task.result as { said: string[] } | null)?.said };
}
/** The claim under which an act runs. */
async function fenceOf({ attempt, taskId }: StepContext): Promise<Fence> {
  const [row] = await p.sql<{ claim_id: string }>(
    `SELECT claim_id FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1 AND step_id = $2`,
    [taskId, attempt.stepId],
  );
  return { ...attempt, claimId: row?.claim_id ?? '' };
}
const heard = async (session: string, client?: Client) => (await run('read', session, client && { client })).said;

describe('a session', () => {
  test('holds what a conversation said, in order, for the next task', async () => {
    const id = newSession();
    acts.set('answer:talk', async (ctx, session) => {
      say(ctx, session, 'user', 'how long?');
      // Its own words are there at once, and not yet numbered.
      expect(await ctx.session(session).list()).toMatchObject([{ n: null, from: 'user', text: 'how long?' }]);
      return say(ctx, session, 'agent', '30 days');
    });
    await run('talk', id);
    expect(await heard(id)).toEqual(['how long?', '30 days']);
    expect(await p.client.sessions.show(id)).toMatchObject({
      items: [
        { n: 1, from: 'user', shown: true },
        { n: 2, from: 'agent', shown: true },
      ],
    });
    const { sessions: listed } = await p.client.sessions.list();
    expect(listed.find(({ sessionId }) => sessionId === id)).toMatchObject({ items: 2, bytes: 16 });
  });

  test('E4: the same id of two tenants is two sessions; without an id, or with one that could widen a subject, there is none', async () => {
    const id = newSession();
    await run('say', id);
    await run('say', id, { client: globex });
    expect([(await heard(id))?.length, (await heard(id, globex))?.length]).toEqual([1, 1]);
    await globex.sessions.reset(id);
    expect([(await heard(id))?.length, (await heard(id, globex))?.length]).toEqual([1, 0]);
    for (const bad of ['', 'a.b', '*', '>', 'a b', 'x'.repeat(300), '租户'])
      expect([bad, await run('say', bad)]).toMatchObject([bad, { state: 'failed', code: 'INVALID_INPUT' }]);
  });

  test('E9: row-level security keeps tenants apart: bound to one, the scheduler’s own role neither sees nor writes another’s', async () => {
    const id = newSession();
    await run('say', id);
    await using database = openDatabase({
      url: p.platform.database.urlOf('cleanslate_scheduler'),
      applicationName: 'test',
    });
    const as = (tenantId: string | undefined, sql: string) =>
      withTransaction(database, { role: 'cleanslate_scheduler', ...(tenantId && { tenantId }) }, (tx) =>
        tx.query<{ text: string }>(sql),
      );
    const all = 'SELECT tenant_id, text FROM ledger.session_items';
    expect((await as('acme', all)).rows).not.toEqual([]);
    for (const row of (await as('globex', all)).rows) expect(row).toMatchObject({ tenant_id: 'globex' });
    await expect(as(undefined, all)).rejects.toThrow(/tenant is not set/);
    const steal = `INSERT INTO ledger.sessions (tenant_id, session_id, expires_at) VALUES ('acme', 'stolen', now())`;
    await expect(as('globex', steal)).rejects.toThrow(/row-level security/);
  });

  test('E9: a worker’s credential reaches a tenant’s session only under a claim on a task of it', async () => {
    const id = newSession();
    let fence: Fence | undefined;
    await run('say', id);
    acts.set('answer:fence', async (ctx) => {
      fence = await fenceOf(ctx);
      return (await ask(fence)).items.map(({ text }) => text);
    });
    await using bus = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
    const ask = (with_: Fence, tenant = 'acme') =>
      callEndpoint(bus, SessionRead, tenant, { sessionId: id, fence: with_ }, { source: '/test' });
    expect((await run('fence', id)).said).toHaveLength(1);
    if (fence === undefined) throw new Error('the act did not run');
    // The attempt is over; and it was never one of globex.
    await expect(ask(fence)).rejects.toMatchObject({ code: 'STALE_ATTEMPT' });
    await expect(ask(fence, 'globex')).rejects.toMatchObject({ code: 'TENANT_MISMATCH' });
    await expect(ask({ ...fence, tenantId: 'globex' }, 'globex')).rejects.toMatchObject({ code: 'STALE_ATTEMPT' });
    const write = { sessionId: id, fence, ttlMs: 60_000, reset: true, items: [], extracted: null };
    await expect(callEndpoint(bus, SessionWrite, 'acme', write, { source: '/test' })).rejects.toMatchObject({
      code: 'STALE_ATTEMPT',
    });
    expect(await heard(id)).toHaveLength(1);
  });

  test('E5: what is handed out is frozen, and a copy: changing it, or what was appended, changes nothing', async () => {
    const id = newSession();
    acts.set('answer:change', async (ctx, session) => {
      const mine = { from: 'user' as const, text: 'as said' };
      ctx.session(session).append(mine);
      mine.text = 'changed behind one’s back';
      const listed = await ctx.session(session).list();
      expect(() => (listed as unknown[]).push('more')).toThrow(TypeError);
      expect(() => Object.assign(listed[0] ?? {}, { text: 'changed' })).toThrow(TypeError);
      return [];
    });
    expect(await run('change', id)).toMatchObject({ state: 'completed' });
    expect(await heard(id)).toEqual(['as said']);
  });

  test('E6: a step that fails leaves nothing in the session: the retry runs anew, and no error is played back', async () => {
    const id = newSession();
    let runs = 0;
    acts.set('answer:flaky', async (ctx, session) => {
      runs += 1;
      say(ctx, session, 'user', 'what is the rate?');
      expect((await ctx.session(session).list()).length).toBe(1);
      say(ctx, session, 'agent', `answer of run ${runs}`);
      if (runs === 1) throw new AppError('EXECUTOR_FAILED', 'the tool was down');
      return [];
    });
    expect(await run('flaky', id)).toMatchObject({ state: 'completed' });
    expect([runs, await heard(id)]).toEqual([2, ['what is the rate?', 'answer of run 2']]);
  });

  test('E6: what a task said that failed in the end is shown to no other; what its user said stays', async () => {
    const id = newSession();
    acts.set('answer:then-fail', async (ctx, session) => {
      say(ctx, session, 'user', 'what is the rate?');
      return say(ctx, session, 'agent', '99 %');
    });
    acts.set('later:then-fail', async (ctx, session) => {
      // Its own task's words are there.
      expect((await ctx.session(session).list()).map(({ text }) => text)).toEqual(['what is the rate?', '99 %']);
      throw new AppError('NO_SUCH_RATE', 'none', { disposition: 'terminal' });
    });
    expect(await run('then-fail', id, { workflow: 'chat-then' })).toMatchObject({
      state: 'failed',
      code: 'NO_SUCH_RATE',
    });
    expect(await heard(id)).toEqual(['what is the rate?']);
    expect((await p.client.sessions.show(id)).items.map(({ shown }) => shown)).toEqual([true, false]);
  });

  test('E7: a reset forgets all, and a task accepted before it brings nothing back', async () => {
    const id = newSession();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let started = false;
    await run('say', id);
    acts.set('answer:old', async (ctx, session) => {
      await ctx.session(session).list();
      say(ctx, session, 'agent', 'summary of the old conversation');
      started = true;
      await gate;
      return [];
    });
    const { taskId } = await p.client.submit({ workflow: 'chat', input: { act: 'old', session: id } });
    await waitFor('the old task to run', () => started);
    expect(await p.client.sessions.reset(id)).toEqual({ sessionId: id, removed: 1 });
    expect(await heard(id)).toEqual([]);
    open();
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(await heard(id)).toEqual([]);
    await run('say', id);
    expect(await heard(id)).toHaveLength(1);
  });

  test('E7: a session that expired is empty, and is not revived by the next word', async () => {
    const id = newSession();
    await run('say', id);
    await p.sql(`UPDATE ledger.sessions SET expires_at = now() - interval '1 second' WHERE session_id = $1`, [id]);
    expect(await heard(id)).toEqual([]);
    await expect(p.client.sessions.show(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await run('say', id);
    expect(await heard(id)).toHaveLength(1);
    await p.sql(`UPDATE ledger.sessions SET expires_at = now() - interval '8 days' WHERE session_id = $1`, [id]);
    const [before] = await p.sql<{ gone: number }>('SELECT ledger.forget_sessions(100) AS gone');
    expect(before?.gone).toBeGreaterThan(0);
    expect(await p.sql('SELECT FROM ledger.session_items WHERE session_id = $1', [id])).toEqual([]);
  });

  test('a reset by a step is its own beginning: what the task says afterwards is kept', async () => {
    const id = newSession();
    await run('say', id);
    acts.set('answer:anew', async (ctx, session) => {
      say(ctx, session, 'user', 'dropped with the reset');
      await ctx.session(session).reset();
      expect(await ctx.session(session).list()).toEqual([]);
      return say(ctx, session, 'user', 'a new beginning');
    });
    expect(await run('anew', id)).toMatchObject({ state: 'completed' });
    expect(await heard(id)).toEqual(['a new beginning']);
  });

  test('E8: an answer that was sent back is not shown to the next round, and its rework takes its place', async () => {
    const id = newSession();
    acts.set('answer:rework', async (ctx, session) => {
      expect(await ctx.session(session).list()).toEqual([]);
      const said = ctx.round === 1 ? 'bad' : 'good';
      return say(ctx, session, 'agent', said);
    });
    expect(await run('rework', id, { workflow: 'chat-judged' })).toMatchObject({ state: 'completed', said: ['good'] });
    expect(await heard(id)).toEqual(['good']);
  });

  test('E8: what a later round leaves unsaid is gone, also where it says nothing at all', async () => {
    const id = newSession();
    acts.set('answer:less', async (ctx, session) => {
      if (ctx.round === 2) return say(ctx, session, 'agent', 'good');
      say(ctx, session, 'agent', 'let me think');
      return say(ctx, session, 'agent', 'bad');
    });
    acts.set('answer:nothing', async (ctx, session) => {
      expect(await ctx.session(session).list()).toMatchObject([{ text: 'good' }]);
      return ctx.round === 1 ? say(ctx, session, 'agent', 'bad') : [];
    });
    expect(await run('less', id, { workflow: 'chat-judged' })).toMatchObject({ state: 'completed', said: ['good'] });
    expect((await p.client.sessions.show(id)).items).toMatchObject([{ text: 'good' }]);
    expect(await run('nothing', id, { workflow: 'chat-judged' })).toMatchObject({ state: 'completed', said: [] });
    expect(await heard(id)).toEqual(['good']);
  });

  test('E5: what an attempt wrote that died before its report is replaced by the next, which is looked through anew', async () => {
    const id = newSession();
    await using bus = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
    let died = false;
    acts.set('answer:die', async (ctx, session) => {
      if (died) return say(ctx, session, 'user', 'we decided to renew');
      const items = ['we decided', 'to leave'].map((text, i) => ({ key: i + 1, from: 'user' as const, text }));
      const fence = await fenceOf(ctx);
      const write = { sessionId: session, fence, ttlMs: 60_000, reset: false, items, extracted: null };
      for (const repeated of [write, write])
        await callEndpoint(bus, SessionWrite, 'acme', repeated, { source: '/test' });
      // Said twice it is one, under its first numbers.
      expect((await p.client.sessions.show(session)).items.map(({ n }) => n)).toEqual([1, 2]);
      died = true;
      throw new AppError('EXECUTOR_FAILED', 'the worker died');
    });
    acts.set('answer:unextracted', async (ctx, session) => {
      const { items } = await ctx.session(session).unextracted();
      return items.map(({ n, text }) => `${n} ${text}`);
    });
    expect(await run('die', id)).toMatchObject({ state: 'completed', said: ['we decided to renew'] });
    expect((await run('unextracted', id)).said).toEqual(['3 we decided to renew']);
  });

  test('a repeated attempt that says nothing leaves no session behind', async () => {
    const id = newSession();
    acts.set('answer:listen', async (ctx, session) => {
      await ctx.session(session).list();
      if (ctx.attempt.attempt === 1) throw new AppError('EXECUTOR_FAILED', 'once more');
      return [];
    });
    expect(await run('listen', id)).toMatchObject({ state: 'completed' });
    await expect(p.client.sessions.show(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('steps that a plan grew say each their own', async () => {
    const id = newSession();
    acts.set('answer:grown', async (ctx, session) => say(ctx, session, 'agent', `answer of ${ctx.attempt.stepId}`));
    acts.set('later:grown', async (ctx, session) => (await ctx.session(session).list()).map(({ text }) => text));
    const { said } = await run('grown', id, { workflow: 'chat-grown' });
    expect(said?.toSorted()).toEqual(['answer of answer', 'answer of answer#2']);
  });

  test('many tasks append at once, on two workers: nothing is lost, and each pair stays together', async () => {
    const id = newSession();
    acts.set('answer:pair', async (ctx, session) => {
      await sleep(Math.random() * 20);
      say(ctx, session, 'user', `q ${ctx.taskId}`);
      return say(ctx, session, 'agent', `a ${ctx.taskId}`);
    });
    const tasks = await Promise.all(Array.from({ length: 30 }, () => run('pair', id)));
    const texts = (await heard(id)) ?? [];
    expect(new Set(texts).size).toBe(60);
    for (const { taskId } of tasks) expect(texts.indexOf(`a ${taskId}`)).toBe(texts.indexOf(`q ${taskId}`) + 1);
    expect((await p.client.sessions.show(id)).items.map(({ n }) => n)).toEqual(texts.map((_, index) => index + 1));
  });

  test('is bounded in items and bytes: the oldest fall out, and that is said; an item that is too long is refused by name', async () => {
    const id = newSession();
    acts.set('answer:many', async (ctx, session) => say(ctx, session, 'user', ...many(150)));
    acts.set('answer:large', async (ctx, session) => say(ctx, session, 'user', ...Array(6).fill('字'.repeat(10_000))));
    acts.set('answer:huge', async (ctx, session) => say(ctx, session, 'user', 'x'.repeat(40_000)));
    const many = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);
    await run('many', id);
    await run('many', id);
    expect(await p.client.sessions.show(id)).toMatchObject({ forgotten: 100, items: { length: 200 } });
    await run('large', id);
    await run('large', id);
    const shown = await p.client.sessions.show(id);
    expect(shown.items.map(({ text }) => text.length)).toEqual(Array(8).fill(10_000));
    expect(await run('huge', id)).toMatchObject({ state: 'failed', code: 'INVALID_INPUT' });
  });
});

describe('long-term memory', () => {
  test('what users stated becomes facts once the task has completed: in one batch, each once', async () => {
    const id = newSession();
    acts.set('answer:state', async (ctx, session) => {
      say(ctx, session, 'user', 'I prefer quarterly reports. Thanks!', 'Do you know what we decided?');
      say(ctx, session, 'agent', 'According to the knowledge base, we decided to renew.');
      return say(ctx, session, 'user', 'We have decided to renew with Nordwind for 24 months.');
    });
    acts.set('answer:remember', async (ctx, session) => {
      const early = await remember(ctx, ctx.session(session));
      expect(early).toMatchObject({ looked: 0, candidates: [] });
      const { looked, candidates, refused, pickedBy } = await remember(ctx, ctx.session(session), { end: true });
      expect(pickedBy).toBe('offline');
      return [String(looked), String(candidates.length), ...refused.map(({ reason }) => reason)];
    });
    await run('state', id);
    const { said, taskId } = await run('remember', id);
    expect(said?.slice(0, 2)).toEqual(['4', '2']);
    const statements = await waitFor('the facts', async () => {
      const { facts } = await p.client.facts.asOf({ limit: 100 });
      const own = facts.filter(({ sourceRef }) => sourceRef.startsWith(`session:${id}#`));
      return own.length === 2 && own;
    });
    expect(statements.map(({ statement, knowledgeType }) => [knowledgeType, statement]).sort()).toEqual([
      ['conclusion', 'We have decided to renew with Nordwind for 24 months.'],
      ['preference', 'I prefer quarterly reports.'],
    ]);
    expect(taskId).toBeDefined();
    // What was looked through is not looked at again.
    expect((await run('remember', id)).said).toEqual(['0', '0']);
  });

  test('E6: what a task proposed that failed becomes no fact, and its items are looked at again', async () => {
    const id = newSession();
    acts.set('answer:state', async (ctx, session) => say(ctx, session, 'user', 'We have decided to leave Fabrikam.'));
    acts.set('answer:doomed', async (ctx, session) => {
      expect((await remember(ctx, ctx.session(session), { end: true })).candidates).toHaveLength(1);
      throw new AppError('DOOMED', 'it fails', { disposition: 'terminal' });
    });
    acts.set('answer:again', async (ctx, session) => {
      return [String((await remember(ctx, ctx.session(session), { end: true })).candidates.length)];
    });
    await run('state', id);
    expect(await run('doomed', id)).toMatchObject({ state: 'failed', code: 'DOOMED' });
    const { facts } = await p.client.facts.asOf({ limit: 500 });
    expect(facts.filter(({ statement }) => statement.includes('Fabrikam'))).toEqual([]);
    expect(await run('again', id)).toMatchObject({ said: ['1'] });
  });
});
