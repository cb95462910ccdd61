import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const Value = z.union([
  z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
  z.object({ intValue: z.string() }).transform(({ intValue }) => Number(intValue)),
  z.object({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
  z.object({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
]);
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])));
const nano = z.string().regex(/^[0-9]{19}$/);

/** OTLP's JSON, strictly: what is misspelt here a collector would drop in silence. */
const Span = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  flags: z.literal(1),
  name: z.string(),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nano,
  endTimeUnixNano: nano,
  attributes: Attributes,
  status: z.strictObject({ code: z.literal(2).optional() }),
});
const Request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: Attributes }),
      scopeSpans: z.array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(Span) })),
    }),
  ),
});

export type CollectedSpan = z.infer<typeof Span> & { readonly service: string };

/** Stands in for an OTLP/HTTP collector. */
export type Collector = AsyncDisposable & {
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
  /** Every body as it came. */
  readonly bodies: readonly string[];
};

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    bodies.push(body);
    const parsed = Request.safeParse(JSON.parse(body));
    const right = request.url === '/v1/traces' && request.headers['content-type'] === 'application/json';
    if (!parsed.success || !right) return void response.writeHead(400).end(parsed.error?.message);
    for (const { resource, scopeSpans } of parsed.data.resourceSpans)
      for (const { spans: found } of scopeSpans)
        spans.push(...found.map((span) => ({ ...span, service: String(resource.attributes['service.name']) })));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
