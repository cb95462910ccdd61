import { z } from 'zod';
import { ErrorBody } from '../errors.ts';
import { Pin } from '../fence.ts';
import { Problem } from '../http/problem.ts';
import { HTTP_ROUTES, HTTP_TAGS, type HttpRoute } from '../http/routes.ts';
import { SubmitBody, Submitted } from '../http/submit.ts';
import { CandidateView, StepDetail, Transition } from '../inspection-endpoints.ts';
import { Assertion, Candidate, FactImport, FactView } from '../knowledge.ts';
import { ScheduleView } from '../schedule-endpoints.ts';
import { Cursor, DeadLetterSummary, DeadLetterView, GateView, StepView, TaskSummary, TaskView } from '../views.ts';

type JsonMap = Record<string, unknown>;

/** Schemas that the document names once and refers to wherever they are used. */
const SHARED = {
  Problem,
  ErrorBody,
  Pin,
  Cursor,
  SubmitBody,
  Submitted,
  TaskSummary,
  TaskView,
  StepView,
  GateView,
  StepDetail,
  Transition,
  DeadLetterSummary,
  DeadLetterView,
  ScheduleView,
  FactView,
  Assertion,
  FactImport,
  Candidate,
  CandidateView,
};

/** OpenAPI 3.1 document of the gateway, from the schemas of the bus and the list of routes. */
export function toOpenApi(): JsonMap {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SHARED)) registry.add(schema, { id });
  const routes = HTTP_ROUTES.map((route) => ({ route, parts: splitRequest(route) }));
  for (const { route, parts } of routes) {
    registry.add(answerSchema(route), { id: `${route.id}.answer` });
    if (parts.body !== undefined) registry.add(parts.body, { id: `${route.id}.body` });
  }
  const paths: Record<string, JsonMap> = {};
  const add = (path: string, method: string, operation: JsonMap) => {
    paths[path] = { ...paths[path], [method]: operation };
  };
  for (const { route, parts } of routes) add(route.path, route.method, toOperation(route, parts));
  for (const [path, method, operation] of SPECIAL) add(path, method, operation);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cleanslate gateway',
      version: '1.0.0',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Tasks, dead letters, schedules and knowledge of one tenant: the one whose API key is sent. Errors are `application/problem+json` with a stable `code`. Listings give `next`; send it back as `cursor` for the page after. A control with the header `Idempotency-Key` happens once however often it is sent.',
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(HTTP_TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the tenant.' } },
      headers: { RetryAfter: { description: 'Seconds.', schema: { type: 'integer', minimum: 0 } } },
      responses: { Problem: PROBLEM },
      schemas: toComponents(registry),
    },
  };
}

const PROBLEM = {
  description: 'Refused or failed; `code` says why, `remedy` what to do.',
  headers: { 'retry-after': { $ref: '#/components/headers/RetryAfter' } },
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};
const REFUSED = { default: { $ref: '#/components/responses/Problem' } };
const IDEMPOTENCY_KEY = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 200 },
  description: 'The same key with the same request is the same change, and answered the same.',
};

/** The fields of a route's request by where they come from. Those of the path are required, whatever the bus says. */
export type RequestParts = {
  readonly path: Readonly<Record<string, z.ZodType>>;
  readonly query: Readonly<Record<string, z.ZodType>>;
  readonly body: z.ZodObject | undefined;
  /** Every field of it is optional. */
  readonly bodyOptional: boolean;
};

export function splitRequest({ method, path, endpoint, cursor }: HttpRoute): RequestParts {
  const shape = endpoint.request.data instanceof z.ZodObject ? endpoint.request.data.shape : {};
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const fields: [string, z.ZodType][] = Object.entries(shape);
  const inPath = Object.fromEntries(fields.filter(([name]) => names.includes(name)));
  const rest = fields.filter(([name]) => !names.includes(name));
  if (method === 'get') {
    const query = rest.map(([name, schema]): [string, z.ZodType] =>
      name === cursor ? ['cursor', PageCursor] : [name, schema],
    );
    return { path: inPath, query: Object.fromEntries(query), body: undefined, bodyOptional: true };
  }
  const bodyOptional = rest.every(([, schema]) => schema.safeParse(undefined).success);
  const body = rest.length === 0 ? undefined : z.strictObject(Object.fromEntries(rest));
  return { path: inPath, query: {}, body, bodyOptional };
}

/** The `next` of a listing: opaque over HTTP, whatever it is on the bus. */
const PageCursor = z.string().max(600).optional();

/** The schema of an endpoint's successful answer. */
function answerSchema({ endpoint, cursor }: HttpRoute): z.ZodType {
  const value: z.ZodType = endpoint.reply.data.options[0].shape.value;
  return cursor !== undefined && value instanceof z.ZodObject ? value.extend({ next: z.string().nullable() }) : value;
}

function toOperation({ method, id, tag, summary }: HttpRoute, parts: RequestParts): JsonMap {
  const parameters = [
    ...Object.entries(parts.path).map(([name, schema]) => toParameter(name, 'path', schema)),
    ...Object.entries(parts.query).map(([name, schema]) => toParameter(name, 'query', schema)),
    ...(method === 'get' ? [] : [IDEMPOTENCY_KEY]),
  ];
  const body = parts.body && {
    requestBody: { required: !parts.bodyOptional, content: json(`${id}.body`) },
  };
  return {
    operationId: id,
    tags: [tag],
    summary,
    parameters,
    ...body,
    responses: { 200: { description: 'Done.', content: json(`${id}.answer`) }, ...REFUSED },
  };
}

function toParameter(name: string, where: 'path' | 'query', schema: z.ZodType): JsonMap {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'throw',
  });
  const required = where === 'path' || !schema.safeParse(undefined).success;
  const description = name === 'cursor' ? { description: 'The `next` of the page before, unchanged.' } : {};
  return { name, in: where, required, schema: shown, ...description };
}

function json(id: string): JsonMap {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${id}` } } };
}

function toComponents(registry: z.core.$ZodRegistry<{ id: string }>): JsonMap {
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'throw',
    uri: (id) => `#/components/schemas/${id}`,
  });
  const entries = Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const TASK_ID = { name: 'taskId', in: 'path', required: true, schema: { type: 'string' } };
const LAST_EVENT_ID = {
  name: 'last-event-id',
  in: 'header',
  required: false,
  schema: { type: 'string', pattern: '^[1-9][0-9]*-[0-9]+$' },
  description: 'The `id` of the last event that was seen: the stream goes on behind it and misses nothing.',
};
const STREAM = {
  description:
    'Server-sent events: each `data` is a CloudEvent as on the bus, `event` its type, `id` its cursor. Without `id`: progress, which may be lost.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

/** Routes that are not plain endpoints of the bus. */
const SPECIAL: readonly (readonly [path: string, method: string, operation: JsonMap])[] = [
  [
    '/v1/tasks',
    'post',
    {
      operationId: 'submitTask',
      tags: ['tasks'],
      summary: 'Submit a task and learn that it is accepted',
      parameters: [{ ...IDEMPOTENCY_KEY, description: 'As `key` in the body: the same key is the same task.' }],
      requestBody: { required: true, content: json('SubmitBody') },
      responses: {
        200: { description: 'It was known already.', content: json('Submitted') },
        202: {
          description: 'The ledger has it.',
          headers: { location: { description: 'Where to look at it.', schema: { type: 'string' } } },
          content: json('Submitted'),
        },
        ...REFUSED,
      },
    },
  ],
  [
    '/v1/tasks/{taskId}/events',
    'get',
    {
      operationId: 'followTask',
      tags: ['tasks'],
      summary: 'Its committed events once and in order, then live, to its end',
      parameters: [TASK_ID, LAST_EVENT_ID],
      responses: { 200: STREAM, 204: { description: 'It is over and nothing is left to see.' }, ...REFUSED },
    },
  ],
  [
    '/v1/events',
    'get',
    {
      operationId: 'followTasks',
      tags: ['tasks'],
      summary: 'The committed events of all tasks, without an end',
      parameters: [LAST_EVENT_ID],
      responses: { 200: STREAM, ...REFUSED },
    },
  ],
];
