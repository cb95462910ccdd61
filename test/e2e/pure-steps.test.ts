import { type Bus, request } from '@cleanslate/bus';
import {
  type ClaimAnswer,
  ClaimReply,
  ClaimRequest,
  ClaimWithReport,
  decodeMessage,
  encodeMessage,
  type Fence,
  subjects,
} from '@cleanslate/contracts';
import { type Platform, startPlatform, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

// What a worker says for a pure step, to a real scheduler, with no worker beside it.

let platform: Platform;
let worker: Bus;
beforeAll(async () => {
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services: ['scheduler'] });
  worker = await platform.broker.connect({ kind: 'worker', role: 'retriever' });
});
afterAll(async () => {
  await worker?.close();
  await platform?.[Symbol.asyncDispose]();
});

const ROLE = 'retriever';
let n = 0;
const envelope = () => ({
  id: `w:${++n}`,
  source: '/services/retriever/w',
  time: new Date().toISOString(),
  tenantid: 'system',
});

async function ask(body: Uint8Array): Promise<readonly ClaimAnswer['answer'][]> {
  const reply = await request(worker, subjects.claim(ROLE), body, { timeoutMs: 30_000 });
  return decodeMessage([ClaimReply], reply).envelope.data.answers.map(({ answer }) => answer);
}

const claim = (fence: Fence) =>
  ask(encodeMessage(ClaimRequest, envelope(), { worker: 'w', role: ROLE, claims: [fence] }));
const finish = (...fences: readonly Fence[]) =>
  ask(
    encodeMessage(ClaimWithReport, envelope(), {
      worker: 'w',
      role: ROLE,
      finished: fences.map((fence) => ({ fence, output: { made: fence.claimId }, usage: { durationMs: 1 } })),
    }),
  );

async function dispatched(): Promise<(claimId: string) => Fence> {
  const client = await platform.client();
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });
  await waitFor('the doorbell', async () => (await stepOf(taskId))?.['phase'] === 'dispatched');
  return (claimId) => ({ epoch: 1, tenantId: 'acme', taskId, stepId: 'retrieve', attempt: 1, claimId });
}

async function stepOf(taskId: string) {
  const [step] = await platform.database.sql(
    `SELECT s.phase, s.claim_id, s.worker, s.spent, s.output FROM ledger.steps s JOIN ledger.tasks t USING (task_seq) WHERE t.task_id = '${taskId}' AND s.step_id = 'retrieve'`,
  );
  return step;
}

const movesOf = (taskId: string) =>
  platform.database.sql(
    `SELECT x.to_state, x.trigger FROM ledger.transitions x JOIN ledger.tasks t USING (task_seq) WHERE t.task_id = '${taskId}' AND x.step_id = 'retrieve' AND x.to_state <> 'pending' ORDER BY x.transition_id`,
  );
const refusalsOf = (taskId: string) =>
  platform.database.sql(`SELECT code, claim_id FROM ledger.refusals WHERE task_id = '${taskId}'`);

test('claim and result are one commit: both moves are recorded, the same again is granted again, another changes nothing', async () => {
  const fence = await dispatched();
  const { taskId } = fence('w:1');
  expect(await finish(fence('w:1'))).toEqual(['granted']);
  const done = { phase: 'done', claim_id: 'w:1', worker: 'w', spent: 0, output: { made: 'w:1' } };
  expect(await stepOf(taskId)).toEqual(done);
  expect(await finish(fence('w:1'))).toEqual(['granted']);
  expect(await finish(fence('w:2'), fence('w:1'))).toEqual(['over', 'granted']);
  expect(await claim(fence('w:3'))).toEqual(['over']);
  expect(await stepOf(taskId)).toEqual(done);
  expect(await movesOf(taskId)).toEqual([
    { to_state: 'executing', trigger: 'claim_granted' },
    { to_state: 'completed', trigger: 'report_succeeded' },
  ]);
  expect(await refusalsOf(taskId)).toEqual([{ code: 'STALE_ATTEMPT', claim_id: 'w:2' }]);
});

test('who computed while another holds the claim has lost; the holder goes on', async () => {
  const fence = await dispatched();
  const { taskId } = fence('w:1');
  expect(await claim(fence('w:1'))).toEqual(['granted']);
  expect(await finish(fence('w:2'))).toEqual(['lost']);
  expect(await stepOf(taskId)).toMatchObject({ phase: 'executing', claim_id: 'w:1', output: null });
  // Its own result may come the short way too: what it holds is the claim.
  expect(await finish(fence('w:1'))).toEqual(['granted']);
  expect(await stepOf(taskId)).toMatchObject({ phase: 'done', output: { made: 'w:1' } });
});

test('another epoch, another attempt, a cancelled task: nothing is granted and nothing written', async () => {
  const fence = await dispatched();
  const { taskId } = fence('w:1');
  expect(await finish({ ...fence('w:1'), epoch: 9 }, { ...fence('w:1'), attempt: 2 })).toEqual(['over', 'over']);
  expect(await stepOf(taskId)).toMatchObject({ phase: 'dispatched', output: null });
  await (await platform.client()).cancel(taskId);
  expect(await finish(fence('w:1'))).toEqual(['over']);
  expect(await stepOf(taskId)).toMatchObject({ phase: 'failed', output: null });
});
