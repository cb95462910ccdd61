import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createOtlpSender } from './otlp.ts';
import { SpanQueue } from './span-queue.ts';
import { parseTraceparent } from './trace-context.ts';
import { createTracer, type FinishedSpan, PASSING_TRACER } from './tracer.ts';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function recording(ratio = 1) {
  const spans: FinishedSpan[] = [];
  return { spans, tracer: createTracer({ record: (span) => spans.push(span), close: async () => undefined, ratio }) };
}

describe('trace context', () => {
  test('is what W3C says, or nothing', () => {
    expect(parseTraceparent(PARENT)).toEqual({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      sampled: true,
    });
    const bad = [PARENT.toUpperCase(), `${PARENT}0`, PARENT.replace('00-', 'ff-'), '', 'x', undefined, null];
    const zeros = [
      PARENT.replace(/0af7\w+c-/, `${'0'.repeat(32)}-`),
      PARENT.replace('b7ad6b7169203331', '0'.repeat(16)),
    ];
    for (const header of [...bad, ...zeros]) expect(parseTraceparent(header)).toBeUndefined();
  });

  test('a span continues its parent, or begins a trace; it ends once', () => {
    const { spans, tracer } = recording();
    const root = tracer.start('root');
    const child = tracer.start('child', { parent: root.traceparent, kind: 'consumer', attributes: { a: 1 } });
    child.end({ errorCode: 'BAD', attributes: { b: true } });
    child.end();
    root.end();
    expect(spans).toMatchObject([
      { name: 'child', kind: 'consumer', errorCode: 'BAD', attributes: { a: 1, b: true } },
      { name: 'root', parentSpanId: undefined },
    ]);
    expect(spans[0]?.parentSpanId).toBe(spans[1]?.context.spanId);
    expect(spans[0]?.context.traceId).toBe(spans[1]?.context.traceId);
    expect(tracer.start('other', { parent: PARENT }).traceparent?.split('-')[1]).toBe(PARENT.split('-')[1]);
  });

  test('a trace that is not sampled goes on unrecorded, also one begun here', () => {
    const { spans, tracer } = recording(0);
    const unsampled = PARENT.replace(/01$/, '00');
    tracer.start('x', { parent: unsampled }).end();
    const root = tracer.start('root');
    root.end();
    tracer.start('child', { parent: root.traceparent }).end();
    expect(tracer.start('x', { parent: unsampled }).traceparent).toBe(unsampled);
    expect(root.traceparent).toMatch(/-00$/);
    expect(spans).toEqual([]);
  });

  test('without a collector what came in goes on', () => {
    expect(PASSING_TRACER.start('x', { parent: PARENT }).traceparent).toBe(PARENT);
    expect(PASSING_TRACER.start('x').traceparent).toBeUndefined();
  });
});

describe('spans on their way out', () => {
  const span = (): FinishedSpan => {
    const { spans, tracer } = recording();
    tracer.start('x').end();
    const [made] = spans;
    if (made === undefined) throw new Error('no span');
    return made;
  };

  test('a collector that never answers costs spans beyond the limit, and the stop no more than its time', async () => {
    let [dropped, sent] = [0, 0];
    const queue = new SpanQueue({
      send: () => {
        sent++;
        return new Promise(() => undefined);
      },
      onDropped: (count) => {
        dropped += count;
      },
      onExported: () => undefined,
      limit: 100,
      batch: 10,
    });
    for (let n = 0; n < 1_000; n++) queue.add(span());
    expect([sent, dropped]).toEqual([1, 890]);
    const began = performance.now();
    await queue.close(100);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(dropped).toBe(990);
  });

  test('what was refused is counted as dropped, the rest goes on; closing sends what waits', async () => {
    const counts = { dropped: 0, exported: 0 };
    let calls = 0;
    const queue = new SpanQueue({
      send: async () => {
        if (++calls === 1) throw new Error('refused');
      },
      onDropped: (count) => {
        counts.dropped += count;
      },
      onExported: (count) => {
        counts.exported += count;
      },
      batch: 10,
      everyMs: 60_000,
    });
    for (let n = 0; n < 25; n++) queue.add(span());
    await queue.close();
    expect(counts).toEqual({ dropped: 10, exported: 15 });
  });

  test('OTLP over HTTP: asked again after 503, not after 400, and never beyond its time', async () => {
    const bodies: string[] = [];
    const answers = [503, 200, 400];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        bodies.push(`${request.url} ${request.headers.authorization} ${body}`);
        const status = answers.shift();
        if (status !== undefined) response.writeHead(status, status === 503 ? { 'retry-after': '0.01' } : {}).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const send = createOtlpSender({ endpoint, headers: { authorization: 'x' }, service: 's', timeoutMs: 3_000 });
    const one = span();
    await send([one]);
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toContain('/v1/traces x {"resourceSpans":');
    expect(bodies[1]).toContain(`"traceId":"${one.context.traceId}","spanId":"${one.context.spanId}"`);
    const nanos = /"startTimeUnixNano":"(\d+)"/.exec(bodies[1] ?? '')?.[1];
    expect(Number(nanos) / 1e6).toBeCloseTo(one.startMs, 2);
    await expect(send([one])).rejects.toThrow('400');
    await expect(send([one])).rejects.toThrow(/timeout/i);
    server.closeAllConnections();
    server.close();
  });
});
