import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  // Two slots: a frozen worker then holds no pull request into which the broker would still put doorbells.
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workerEnv: { SLOTS: '2' } });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('executors that fail', () => {
  test('kill -9 in mid-step: the task completes by a second attempt, with one effect', async () => {
    const victim = p.platform.service('analyzer');
    const taskId = await p.submit('one-step', { gate: 'kill' });
    expect((await p.deed(taskId, 'start')).pid).toBe(victim.pid);
    await aHeartbeatOf(taskId);
    await victim.kill('SIGKILL');
    expect(victim.exit).toMatchObject({ signal: 'SIGKILL' });
    const successor = await p.startWorker();
    expect((await p.deed(taskId, 'start', 2)).pid).toBe(successor.pid);
    p.openGate('kill');
    const task = await p.client.result(taskId);
    expect(task.state).toBe('completed');
    expect(task.steps[0]).toMatchObject({ attempt: 2, spent: 1 });
    expect(effectsOf(taskId)).toMatchObject([{ attempt: 2, pid: successor.pid }]);
    expect(await failuresOf(taskId)).toEqual([{ trigger: 'lease_expired', code: 'LEASE_EXPIRED' }]);
    await expectConserved(p.platform);
  });

  test('SIGSTOP past the lease: another worker finishes; after SIGCONT the late report is STALE_ATTEMPT and changes nothing', async () => {
    const sleeper = p.platform.service('analyzer');
    const fenced = await p.submit('one-step', { gate: 'stop' });
    const unfenced = await p.submit('one-step', { gate: 'stop', deaf: true, unfenced: true });
    const both = [fenced, unfenced];
    for (const taskId of both) {
      expect((await p.deed(taskId, 'start')).pid).toBe(sleeper.pid);
      await aHeartbeatOf(taskId);
    }
    sleeper.suspend();
    const other = await p.startWorker();
    for (const taskId of both) expect((await p.deed(taskId, 'start', 2)).pid).toBe(other.pid);
    p.openGate('stop');
    for (const taskId of both) {
      expect((await p.client.result(taskId)).state).toBe('completed');
      expect(await failuresOf(taskId)).toEqual([{ trigger: 'lease_expired', code: 'LEASE_EXPIRED' }]);
    }
    const before = await Promise.all(both.map(recordOf));
    expect(await p.sql('SELECT FROM ledger.refusals')).toEqual([]);

    sleeper.resume();
    await waitFor('the late report refused', async () => {
      const refusals = await p.sql('SELECT task_id, step_id, attempt, code FROM ledger.refusals');
      if (refusals.length === 0) return false;
      expect(refusals).toEqual([{ task_id: unfenced, step_id: 'work', attempt: 1, code: 'STALE_ATTEMPT' }]);
      return true;
    });
    await waitFor('the fenced step to notice', () =>
      p.deeds(fenced).some(({ what, pid }) => pid === sleeper.pid && (what === 'fenced' || what === 'aborted')),
    );
    expect(effectsOf(fenced)).toMatchObject([{ attempt: 2, pid: other.pid }]);
    expect(await Promise.all(both.map(recordOf))).toEqual(before);
    await sleeper.kill('SIGKILL');
    await expectConserved(p.platform);
  });

  test('an output of 2 MB travels by reference; the next step reads it', async () => {
    const taskId = await p.submit('judged', { bytes: 2_000_000 });
    await p.startWorker('validator');
    const task = await p.client.result(taskId);
    expect(task.state).toBe('completed');
    expect((task.result as { text: string }).text.length).toBe(2_000_000);
    const [output] = await p.sql(
      `SELECT output->>'$object' IS NOT NULL AS referred, length(output::text) < 200 AS small
       FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1 AND step_id = 'make'`,
      [taskId],
    );
    expect(output).toEqual({ referred: true, small: true });
    expect(effectsOf(taskId)).toHaveLength(2);
    await expectConserved(p.platform);
  });

  test('SIGTERM in mid-step: what does not fit into the grace period is handed back, and nothing is spent', async () => {
    const leaving = p.platform.service('analyzer');
    const taskId = await p.submit('one-step', { gate: 'drain' });
    expect((await p.deed(taskId, 'start')).pid).toBe(leaving.pid);
    const staying = await p.startWorker();
    const exit = await leaving.stop(60_000);
    expect(exit).toEqual({ code: 0, signal: null });
    expect((await p.deed(taskId, 'start', 2)).pid).toBe(staying.pid);
    p.openGate('drain');
    const task = await p.client.result(taskId);
    expect(task.steps[0]).toMatchObject({ state: 'completed', attempt: 2, spent: 0 });
    await expectConserved(p.platform);
  });
});

function effectsOf(taskId: string) {
  return p.deeds(taskId).filter((deed) => deed.what === 'effect');
}

/** From then on the claim is no longer one that was never begun. */
async function aHeartbeatOf(taskId: string): Promise<void> {
  await waitFor(`a heartbeat naming ${taskId}`, async () => {
    const rows = await p.sql(
      'SELECT FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1 AND beaten',
      [taskId],
    );
    return rows.length > 0;
  });
}

async function failuresOf(taskId: string) {
  return await p.sql(
    'SELECT x.trigger, x.code FROM ledger.transitions x JOIN ledger.tasks t USING (task_seq) WHERE t.task_id = $1 AND x.code IS NOT NULL',
    [taskId],
  );
}

/** Everything the ledger holds of a task. */
async function recordOf(taskId: string) {
  return await p.sql(
    `SELECT to_jsonb(t) AS task, (SELECT jsonb_agg(to_jsonb(s) ORDER BY ordinal) FROM ledger.steps s WHERE s.task_seq = t.task_seq) AS steps,
       (SELECT count(*) FROM ledger.events e WHERE e.task_id = t.task_id) AS events, (SELECT count(*) FROM ledger.transitions x WHERE x.task_seq = t.task_seq) AS transitions
     FROM ledger.tasks t WHERE task_id = $1`,
    [taskId],
  );
}
