import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf } from '../fixtures/conservation.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { type CollectedSpan, type Collector, startCollector } from './collector.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

let collector: Collector;
let p: ScriptedPlatform;
beforeAll(async () => {
  collector = await startCollector();
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workers: ['analyzer', 'validator'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
  });
});
afterAll(async () => {
  await p[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

describe('one task from the caller’s span to the fact', () => {
  let spans: readonly CollectedSpan[];
  let taskId: string;
  beforeAll(async () => {
    const submitted = await p.client.submit(
      { workflow: 'judged', input: { script: { candidates: 1, failFirst: 1 }, judge: {} } },
      { traceparent: `00-${TRACE_ID}-${CALLER}-01` },
    );
    taskId = submitted.taskId;
    expect((await p.client.result(taskId)).state).toBe('completed');
    const wanted = ['accept', 'step analyzer', 'step validator', 'report', 'task', 'knowledge'];
    spans = await waitFor('the spans of every part', () => {
      const found = collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
      // Two attempts at making it, one at judging; the candidate and then its settlement.
      const complete = count(found, 'report') >= 3 && count(found, 'knowledge') >= 2;
      return complete && wanted.every((name) => count(found, name) > 0) && found;
    });
  });

  test('is one connected trace: every span hangs on one of it, the first on the caller’s', () => {
    const ids = new Set([CALLER, ...spans.map(({ spanId }) => spanId)]);
    expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId))).toEqual([]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    const [accept] = spans.filter(({ name }) => name === 'accept');
    expect(accept?.parentSpanId).toBe(CALLER);
    expect(new Set(spans.map(({ service }) => service))).toEqual(
      new Set(['scheduler', 'analyzer', 'validator', 'knowledge-maintainer']),
    );
  });

  test('tells how long what took, in order, and what failed', () => {
    for (const span of spans)
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    const steps = spans.filter(({ name }) => name === 'step analyzer');
    expect(
      steps.map(({ attributes, status }) => [attributes['slate.attempt'], attributes['slate.outcome'], status.code]),
    ).toEqual([
      [1, 'failed', 2],
      [2, 'succeeded', undefined],
    ]);
    expect(steps[0]?.attributes['error.type']).toBe('EXECUTOR_FAILED');
    const [task] = spans.filter(({ name }) => name === 'task');
    expect(task?.attributes).toMatchObject({
      'slate.task': taskId,
      'slate.state': 'completed',
      'slate.workflow': 'judged',
    });
  });

  test('goes on in the headers of what was committed: the task’s events, the fact’s, the settlement’s', async () => {
    const { raw } = await adminOf(p.platform);
    const headersOf = async (stream: string, subject: string) => {
      const reply = await raw.request(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ last_by_subj: subject }), {
        timeout: 30_000,
      });
      const { message } = reply.json<{ message?: { hdrs?: string } }>();
      return Buffer.from(message?.hdrs ?? '', 'base64').toString('utf8');
    };
    const fact = await waitFor('the fact', async () => {
      const [row] = await p.sql<{ id: string }>('SELECT knowledge_id AS id FROM knowledge.fact_versions LIMIT 1');
      return row?.id;
    });
    for (const subject of [`evt.task.acme.${taskId}`, `evt.knowledge.acme.${fact}`, 'evt.knowledge.acme.settled'])
      expect([subject, await headersOf('EVENTS', subject)]).toEqual([
        subject,
        expect.stringMatching(new RegExp(`traceparent: 00-${TRACE_ID}-[0-9a-f]{16}-01`)),
      ]);
  });

  test('names, ids and codes are all that is told: no attribute holds a text', () => {
    for (const { attributes } of spans)
      for (const [name, value] of Object.entries(attributes))
        expect([name, String(value)]).toEqual([
          expect.stringMatching(/^(slate\.(tenant|task|step|attempt|outcome|executor|workflow|state)|error\.type)$/),
          expect.stringMatching(/^[\w./:#-]{1,200}$/),
        ]);
  });
});

test('a task nobody traces begins its own trace; one whose caller does not sample is not recorded', async () => {
  const before = collector.spans.length;
  const quiet = '0af7651916cd43dd8448eb211c80319c';
  const unsampled = await p.client.submit(
    { workflow: 'one-step', input: { script: {} } },
    { traceparent: `00-${quiet}-b7ad6b7169203331-00` },
  );
  expect((await p.client.result(unsampled.taskId)).state).toBe('completed');
  const taskId = await p.submit('one-step', {});
  expect((await p.client.result(taskId)).state).toBe('completed');
  const mine = await waitFor('its trace', () => {
    const accept = collector.spans.find(
      ({ name, attributes }) => name === 'accept' && attributes['slate.task'] === taskId,
    );
    const trace = collector.spans.filter(({ traceId }) => traceId === accept?.traceId);
    return count(trace, 'task') === 1 && count(trace, 'report') === 1 && trace;
  });
  expect(mine.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)).toEqual(['accept']);
  expect(collector.spans.length).toBeGreaterThan(before);
  expect(collector.spans.filter(({ traceId }) => traceId === quiet)).toEqual([]);
});

function count(spans: readonly CollectedSpan[], name: string): number {
  return spans.filter((span) => span.name === name).length;
}
