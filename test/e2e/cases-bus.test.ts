import { applyTopology, toNatsServerConfig } from '@cleanslate/bus';
import { BUILT_IN_ROLES, type Principal } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { adminOf, countMessages, expectConserved } from '../fixtures/conservation.ts';
import { stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { slate } from '../fixtures/slate.ts';

// Cases of group A of docs/failure-cases.md that need a whole platform.

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workerEnv: { SLOTS: '8' } });
});
afterAll(() => p[Symbol.asyncDispose]());

const WORK = 'work-analyzer';
const manager = async () => jetstreamManager((await adminOf(p.platform)).raw, { checkAPI: false, timeout: 30_000 });
const consumer = async () => (await manager()).consumers.info('COMMANDS', WORK);

test('A14: a scheduler refuses streams that would lose work; the topology is applied, and all that was stored completes', async () => {
  await p.platform.service('analyzer').stop();
  const tasks = await Promise.all(Array.from({ length: 8 }, () => p.submit('one-step', {})));
  await p.platform.service('scheduler').stop();
  await (await manager()).streams.update('COMMANDS', { discard: 'old', max_msgs: 1_000 });
  await expect(p.platform.start('scheduler')).rejects.toThrow(
    /stream COMMANDS: discard is .{0,3}old.*stream COMMANDS: max_msgs is 1000.*slate topology apply/,
  );
  expect((await slate(p.platform, 'topology', 'diff')).code).toBe(1);
  expect((await slate(p.platform, 'topology', 'apply')).stdout).toContain('updated  stream COMMANDS');
  await Promise.all([p.platform.start('scheduler'), p.startWorker()]);
  for (const taskId of tasks) expect((await p.client.result(taskId)).state).toBe('completed');
  await expectConserved(p.platform);
});

test('A10: doorbells stranded by a lowered max_deliver are rung again once the topology is applied', async () => {
  await p.platform.service('analyzer').stop();
  const second = 1_000_000_000;
  await (await manager()).consumers.update('COMMANDS', WORK, { max_deliver: 1, ack_wait: second });
  const taskId = await p.submit('one-step', {});
  await waitFor('its doorbell stored', async () => (await countMessages(p.platform, 'COMMANDS')) === 1);
  // Delivered once, to somebody who does nothing.
  const admin = await adminOf(p.platform);
  const inbox = admin.newInbox();
  admin.subscribe(inbox, () => undefined);
  admin.raw.publish(`$JS.API.CONSUMER.MSG.NEXT.COMMANDS.${WORK}`, JSON.stringify({ batch: 1 }), { reply: inbox });
  await waitFor('given up by the broker', async () => {
    const { num_ack_pending, num_pending, delivered } = await consumer();
    return num_ack_pending === 0 && num_pending === 0 && delivered.consumer_seq > 0;
  });
  expect(await countMessages(p.platform, 'COMMANDS')).toBe(1);
  await p.startWorker();
  expect((await slate(p.platform, 'topology', 'apply')).stdout).toContain(`updated  durable COMMANDS/${WORK}`);
  expect((await p.client.result(taskId)).state).toBe('completed');
  expect(await stepsOf(p.platform, taskId)).toMatchObject([{ attempt: 1, spent: 0 }]);
  await expectConserved(p.platform);
});

test('A12: steps in a long retry delay take nothing of max_ack_pending: fresh work goes on', async () => {
  await (await manager()).consumers.update('COMMANDS', WORK, { max_ack_pending: 10 });
  const waiting = await Promise.all(Array.from({ length: 10 }, () => p.submit('slow-retry', { failFirst: 1 })));
  await waitFor('all ten in their delay', async () => {
    const rows = await p.sql(`SELECT FROM ledger.steps WHERE phase = 'backing_off'`);
    return rows.length === 10;
  });
  expect((await consumer()).num_ack_pending).toBe(0);
  const taskId = await p.submit('one-step', {});
  expect((await p.client.result(taskId)).state).toBe('completed');
  // None of the ten came back meanwhile: it went past them.
  expect(await p.sql(`SELECT FROM ledger.steps WHERE phase = 'backing_off'`)).toHaveLength(10);
  for (const each of waiting) await p.client.cancel(each);
  await applyTopology(await adminOf(p.platform), { roles: BUILT_IN_ROLES });
  await expectConserved(p.platform);
});

test('A22: the same submission now, after the dedupe window and after a restart of the broker is one task with one effect', async () => {
  const { duplicate_window } = (await (await manager()).streams.info('INTAKE')).config;
  expect(duplicate_window).toBeLessThanOrEqual(100_000_000);
  const request = { workflow: 'one-step', input: { script: {} }, key: 'a22' };
  const first = await p.client.submit(request);
  await p.client.result(first.taskId);
  // The answer took longer than the window is.
  expect(await p.client.submit(request)).toMatchObject({ taskId: first.taskId, duplicate: true });
  await p.platform.broker.server.kill();
  await p.platform.broker.server.restart();
  expect(await p.client.submit(request)).toMatchObject({ taskId: first.taskId, duplicate: true });
  expect(p.deeds(first.taskId).filter(({ what }) => what === 'effect')).toHaveLength(1);
  expect(await p.sql(`SELECT FROM ledger.tasks WHERE idempotency_key = 'a22'`)).toHaveLength(1);
  await expectConserved(p.platform);
});

test('A30: doorbells in the free slots of a frozen worker come to another one; no attempt is spent', async () => {
  await waitFor('the worker pulls', async () => (await consumer()).num_waiting > 0);
  const frozen = p.platform.service('analyzer');
  frozen.suspend();
  const tasks = await Promise.all(Array.from({ length: 8 }, () => p.submit('one-step', {})));
  await waitFor('doorbells in its hands', async () => (await consumer()).num_ack_pending > 0);
  const other = await p.startWorker();
  for (const taskId of tasks) expect((await p.client.result(taskId)).state).toBe('completed');
  const effects = p.deeds().filter(({ what, taskId }) => what === 'effect' && tasks.includes(taskId));
  expect(new Set(effects.map(({ pid }) => pid))).toEqual(new Set([other.pid]));
  for (const taskId of tasks) expect(await stepsOf(p.platform, taskId)).toMatchObject([{ attempt: 1, spent: 0 }]);
  frozen.resume();
  await expectConserved(p.platform);
});

test('A20: a service whose connection is over for good ends with 1; nobody idles', async () => {
  const left: Principal[] = [{ kind: 'admin' }];
  const principals = left.map((principal) => ({ principal, password: p.platform.broker.password }));
  const running = p.platform.services.filter(({ exit }) => exit === undefined);
  expect(running.length).toBeGreaterThanOrEqual(4);
  await p.platform.broker.server.reload(toNatsServerConfig({ principals, roles: BUILT_IN_ROLES }));
  for (const service of running) expect([service.name, (await service.exited).code]).toEqual([service.name, 1]);
});
