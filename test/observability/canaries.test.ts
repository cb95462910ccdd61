import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type ScriptedPlatform, show, startScripted } from '../fixtures/scripted-platform.ts';
import { type Collector, startCollector } from './collector.ts';

// F12, G11: secrets that must be nowhere, in any form, whatever goes wrong.

const CANARY = 'Canary/7f3e+9b1c=ä';
const FORMS = [
  CANARY,
  encodeURIComponent(CANARY),
  Buffer.from(CANARY).toString('base64').replace(/=+$/, '').slice(0, -2),
  Buffer.from(`x:${CANARY}`).toString('base64').slice(4, -4),
];
/** What clients of model providers throw: the key in the message, in a header, in a URL. */
const PROVIDER_ERRORS = [
  { code: 'EXECUTOR_FAILED', disposition: 'retryable', message: `401 Incorrect API key provided: {key}` },
  { code: 'EXECUTOR_FAILED', disposition: 'retryable', message: `429 {"headers":{"authorization":"Bearer {key}"}}` },
  { code: 'EXECUTOR_FAILED', disposition: 'terminal', message: `500 at https://u:{encoded key}@api.example/v1` },
] as const;

const lines: string[] = [];
let collector: Collector;
let p: ScriptedPlatform;
beforeAll(async () => {
  collector = await startCollector();
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    log: (name, line) => {
      lines.push(line);
      show(name, line);
    },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, LOG_LEVEL: 'debug' },
    workerEnv: { MODEL_API_KEY: CANARY },
  });
});
afterAll(async () => {
  await p[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

test('F12, G11: a canary key and password: no trace of them in logs, traces, dead letters, tasks or facts', async () => {
  // The provider's errors, with retries, down to a dead letter.
  const failing = await Promise.all(
    PROVIDER_ERRORS.map((failWith) => p.submit('one-step', { failFirst: 9, failWith })),
  );
  for (const taskId of failing) expect((await p.client.result(taskId)).state).toBe('failed');
  // Refused by the database, refused by the broker, a host that has no name, a configuration that is none.
  const database = new URL(p.platform.database.urlOf('cleanslate_gateway'));
  database.password = CANARY;
  const nowhere = `nats://u:${encodeURIComponent(CANARY)}@no-such-host.invalid:4222`;
  // Some go on trying, and are ended for not being ready.
  const start = (name: 'gateway' | 'analyzer', env: Record<string, string>) =>
    p.platform.start(name, env, undefined, 60_000);
  const crashes = await Promise.allSettled([
    start('gateway', { DATABASE_URL: database.href }),
    start('gateway', { NATS_PASSWORD: CANARY }),
    start('gateway', { DATABASE_URL: `mysql://u:${CANARY}@h/d` }),
    start('analyzer', { NATS_URL: nowhere }),
  ]);
  expect(crashes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  await waitFor('the spans of what failed', () => {
    const failed = collector.spans.filter(({ name, status }) => name === 'step analyzer' && status.code === 2);
    return failed.length >= PROVIDER_ERRORS.length;
  });
  const told = {
    logs: lines.join('\n'),
    traces: collector.bodies.join('\n'),
    crashes: JSON.stringify(
      crashes.map((each) =>
        each.status === 'rejected' ? Object.assign({}, each.reason, { text: String(each.reason) }) : '',
      ),
    ),
    letters: await dump('ledger.dead_letters'),
    tasks: await dump('ledger.tasks'),
    steps: await dump('ledger.steps', 'task_seq, step_id, error, failures, output'),
    events: await dump('ledger.events'),
    facts: await dump('knowledge.fact_versions'),
  };
  for (const [where, text] of Object.entries(told))
    for (const form of FORMS) expect([where, form, text.includes(form)]).toEqual([where, form, false]);
  // It was all there to be told: each of the faults left its mark.
  expect(told.letters).toContain('[redacted]');
  expect(told.logs).toContain('[redacted]');
  for (const mark of [
    'password authentication failed',
    'check NATS_USER and NATS_PASSWORD',
    'DATABASE_URL must be',
    'ENOTFOUND',
  ])
    expect(told.logs).toContain(mark);
}, 150_000);

test('every line of a service that runs is one JSON object with time, level and service', () => {
  const json = lines.filter((line) => line.startsWith('{'));
  for (const line of json)
    expect(JSON.parse(line)).toMatchObject({
      level: expect.any(String),
      time: expect.any(String),
      service: expect.any(String),
    });
  const step = json.map((line) => JSON.parse(line) as Record<string, unknown>).find((line) => line['msg'] === 'step');
  expect(step).toMatchObject({
    task: expect.any(String),
    step: 'work',
    attempt: expect.any(Number),
    tenant: 'acme',
    traceparent: expect.stringMatching(/^00-/),
  });
});

async function dump(table: string, columns = '*'): Promise<string> {
  const rows = await p.sql<{ row: string }>(
    `SELECT row_to_json(x)::text AS row FROM (SELECT ${columns} FROM ${table}) x`,
  );
  return rows.map(({ row }) => row).join('\n');
}
