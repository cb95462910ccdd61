import { openDatabase } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { countMessages, expectConserved } from '../fixtures/conservation.ts';
import { stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { slate } from '../fixtures/slate.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workers: ['analyzer', 'validator'],
    workerEnv: { SLOTS: '8' },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('the database is restored from a backup', () => {
  test('the scheduler refuses it, the doctor makes it a new epoch, and everything the backup had ends once', async () => {
    const running = await p.submit('one-step', { gate: 'later' });
    await p.deed(running, 'start');
    // A doorbell nobody takes, and another task that gets on after the backup.
    const queued = await p.submit('unattended', {});
    const rewound = await p.submit('one-step', { gate: 'soon' });
    await p.deed(rewound, 'start');
    await waitFor('the doorbell stored', async () => {
      return (await p.sql('SELECT FROM ledger.steps WHERE doorbell_seq IS NOT NULL AND claim_id IS NULL')).length > 0;
    });
    await stopServices();
    await copyAside();
    const revisionThen = await revision();
    await startServices();

    p.openGate('soon');
    await p.client.result(rewound);
    const lost = await p.submit('judged', { candidates: 1 });
    await p.client.result(lost);
    await waitFor('its knowledge', async () => (await revision()) > revisionThen);
    await waitFor('it is told', async () => (await p.sql('SELECT FROM knowledge.outbox')).length === 0);
    const revisionLost = await revision();
    await waitFor('all events published', async () => {
      return (
        (await p.sql('SELECT FROM ledger.meta m, ledger.published p WHERE m.position = p.position AND m.position > 0'))
          .length === 1
      );
    });
    const connected = await slate(p.platform, 'doctor', '--after-restore');
    expect(connected.code).not.toBe(0);
    expect(connected.stderr).toContain('stop all of them first');
    await stopServices();
    await bringBack();
    expect(await revision()).toBe(revisionThen);
    expect(await p.sql('SELECT FROM ledger.tasks WHERE task_id = $1', [lost])).toEqual([]);

    await expect(p.platform.start('scheduler')).rejects.toThrow('LEDGER_BEHIND_STREAM');
    await expect(p.platform.start('knowledge-maintainer')).rejects.toThrow('LEDGER_BEHIND_STREAM');
    const sick = await slate(p.platform, 'doctor', '--json');
    expect((JSON.parse(sick.stdout) as { checks: unknown[] }).checks).toContainEqual(
      expect.objectContaining({
        name: 'ledger age',
        state: 'fail',
        remedy: expect.stringContaining('--after-restore'),
      }),
    );
    const before = await countMessages(p.platform, 'COMMANDS');
    expect(before).toBeGreaterThan(0);
    const { code, stdout, stderr } = await slate(p.platform, 'doctor', '--after-restore', '--json');
    expect([code, stderr]).toEqual([0, '']);
    const report: unknown = JSON.parse(stdout);
    expect(report).toMatchObject({ epoch: 2, revision: revisionLost, commandsPurged: before, stream: { epoch: 1 } });
    expect(report).toMatchObject({
      tasks: expect.arrayContaining([
        { task: `acme/${lost}`, seen: 'completed', database: null },
        { task: `acme/${rewound}`, seen: 'completed', database: expect.stringMatching('executing|pending') },
      ]),
    });
    expect((report as { facts: string[] }).facts.length).toBeGreaterThan(0);
    expect(await countMessages(p.platform, 'COMMANDS')).toBe(0);
    expect(await p.sql('SELECT spent FROM ledger.steps WHERE spent > 0')).toEqual([]);
    expect(await p.sql(`SELECT FROM ledger.steps WHERE phase = 'executing'`)).toEqual([]);

    await startServices();
    await p.startWorker('analyzer', { ROLE: 'retriever', NATS_USER: 'worker-retriever' });
    p.openGate('later');
    for (const taskId of [running, queued, rewound]) {
      expect((await p.client.result(taskId)).state).toBe('completed');
      expect(await stepsOf(p.platform, taskId)).toMatchObject([{ state: 'completed', spent: 0 }]);
    }
    // The lost task is its client's to repeat; what is learned now comes after every revision that readers have seen.
    const again = await p.submit('judged', { candidates: 1 });
    expect((await p.client.result(again)).state).toBe('completed');
    await waitFor('new knowledge', async () => (await revision()) > revisionLost);
    const [gap] = await p.sql<{ gap: number }>(
      'SELECT (max(revision) - count(*))::int4 AS gap FROM knowledge.revisions',
    );
    expect(gap).toEqual({ gap: 0 });
    await expectConserved(p.platform);
    const [event] = await p.sql<{ epoch: number }>(
      `SELECT (envelope->>'epoch')::int4 AS epoch FROM ledger.events ORDER BY position DESC LIMIT 1`,
    );
    expect(event).toEqual({ epoch: 2 });
  });

  test('a standby that lacks the last commits takes over from under running services: they end, and start for nobody', async () => {
    await stopServices();
    await copyAside();
    await startServices();
    const writers = WRITERS.map((writer) => p.platform.service(writer));
    const revisionThen = await revision();
    const lost = await p.submit('judged', { candidates: 1 });
    await p.client.result(lost);
    await waitFor('its knowledge', async () => (await revision()) > revisionThen);
    await waitFor('everything told', async () => {
      const behind = 'SELECT FROM ledger.meta m, ledger.published p WHERE m.position > p.position';
      return (await p.sql(`${behind} UNION ALL SELECT FROM knowledge.outbox`)).length === 0;
    });
    await bringBack();
    await waitFor('they end', () => writers.every(({ exit }) => exit !== undefined));
    expect(writers.map(({ exit }) => exit?.code)).toEqual([1, 1]);
    for (const name of WRITERS) await expect(p.platform.start(name)).rejects.toThrow('LEDGER_BEHIND_STREAM');
    await stopServices();
    expect((await slate(p.platform, 'doctor', '--after-restore')).code).toBe(0);
    await startServices();
    expect((await p.client.result(await p.submit('judged', { candidates: 1 }))).state).toBe('completed');
    await expectConserved(p.platform);
  });

  test('reports of the lost time end as stale', async () => {
    const taskId = await p.submit('one-step', { gate: 'stale', deaf: true, unfenced: true });
    await p.deed(taskId, 'start');
    await Promise.all(
      p.platform.services.filter(({ name, exit }) => name !== 'analyzer' && !exit).map((s) => s.stop()),
    );
    p.openGate('stale');
    await waitFor('a report stored', async () => (await countMessages(p.platform, 'REPORTS')) > 0);
    await stopServices();
    expect((await slate(p.platform, 'doctor', '--after-restore')).code).toBe(0);
    await startServices();
    await waitFor('the report refused', async () => {
      const rows = await p.sql(`SELECT code FROM ledger.refusals WHERE task_id = $1`, [taskId]);
      return rows.length > 0 && rows.every(({ code }) => code === 'STALE_ATTEMPT');
    });
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(await stepsOf(p.platform, taskId)).toMatchObject([{ attempt: 2, spent: 0 }]);
    await expectConserved(p.platform);
  });
});

const WRITERS = ['scheduler', 'knowledge-maintainer'] as const;

async function startServices(): Promise<void> {
  await Promise.all([
    ...(['scheduler', 'gateway', 'knowledge-maintainer'] as const).map((name) => p.platform.start(name)),
    ...(['analyzer', 'validator'] as const).map((role) => p.startWorker(role)),
  ]);
}

/** kill -9: nothing is handed back in good order. */
async function stopServices(): Promise<void> {
  const running = p.platform.services.filter(({ exit }) => exit === undefined);
  await Promise.all(running.map((service) => service.kill('SIGKILL')));
  await waitFor('no service connected', async () => {
    const rows = await p.sql(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'cleanslate-%'`,
    );
    return rows.length === 0;
  });
}

async function revision(): Promise<number> {
  const [row] = await p.sql<{ n: number }>('SELECT coalesce(max(revision), 0)::int4 AS n FROM knowledge.revisions');
  return row?.n ?? 0;
}

const nameOf = () => p.platform.database.name;

/** The backup: a copy of the database as it is now. */
async function copyAside(): Promise<void> {
  await asServerAdmin(nameOf(), [`CREATE DATABASE ${nameOf()}_backup TEMPLATE ${nameOf()}`]);
}

async function bringBack(): Promise<void> {
  const drop = `DROP DATABASE ${nameOf()} WITH (FORCE)`;
  await asServerAdmin(`${nameOf()}_backup`, [drop, `ALTER DATABASE ${nameOf()}_backup RENAME TO ${nameOf()}`]);
}

/**
 * Nobody may be connected to a database that is copied or renamed, and TimescaleDB's own workers come by at any
 * time: then it is tried again.
 */
async function asServerAdmin(disconnected: string, statements: readonly string[]): Promise<void> {
  await using server = openDatabase({ url: inject('postgresAdminUrl'), applicationName: 'test', poolSize: 1 });
  const drop = 'SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE datname = $1';
  for (const statement of statements)
    await waitFor(statement, async () => {
      await server.pool.query(drop, [disconnected]);
      await server.pool.query(statement);
      return true;
    });
}
