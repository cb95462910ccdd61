import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, type GatewayPlatform, startWithGateway } from './platform.ts';

let world: GatewayPlatform;
beforeAll(async () => {
  // No workers: what is accepted stays where it is.
  world = await startWithGateway(['scheduler', 'gateway']);
});
afterAll(async () => {
  await world?.platform[Symbol.asyncDispose]();
});

const NOOP = { workflow: 'noop', input: {} };
type Problem = { status: number; code: string; title: string; details?: { issues?: { path: string }[] } };

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`${world.url()}${path}`, { ...init, headers: { ...bearer(), ...init.headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Problem };
}

function post(body: string | Uint8Array<ArrayBuffer> | object, headers: Record<string, string> = {}) {
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return call('/v1/tasks', {
    method: 'POST',
    body: bytes,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

const deep = (levels: number) => `{"workflow":"noop","input":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
const document = (text: string) => ({
  workflow: 'contract-review',
  input: { document: { name: 'a.md', mediaType: 'text/markdown', text } },
});

describe('bad input: 4xx, a code, the field, and nothing written', () => {
  test.each<
    [name: string, status: number, code: string, says: string, body: string | Uint8Array<ArrayBuffer> | object]
  >([
    ['an empty body', 400, 'UNPARSEABLE', 'empty', ''],
    ['no JSON', 400, 'UNPARSEABLE', 'not JSON', '{"workflow":'],
    ['a string', 422, 'SCHEMA_MISMATCH', 'body', '"noop"'],
    ['not UTF-8', 400, 'UNPARSEABLE', 'UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['binary', 400, 'UNPARSEABLE', 'body', new Uint8Array([0, 1, 2, 3, 250])],
    ['__proto__', 400, 'UNPARSEABLE', '__proto__', '{"workflow":"noop","input":{"__proto__":{"x":1}}}'],
    ['escaped __proto__', 400, 'UNPARSEABLE', '__proto__', '{"workflow":"noop","input":{"\\u005f_proto__":1}}'],
    ['NUL', 400, 'UNPARSEABLE', 'NUL', '{"workflow":"noop","input":{"a":"\\u0000"}}'],
    [
      'an id that would lose its last digits',
      400,
      'UNPARSEABLE',
      'send it as text',
      '{"input":{"id":9007199254740993}}',
    ],
    ['65 levels', 400, 'UNPARSEABLE', 'nested deeper', deep(65)],
    ['100,000 levels', 400, 'UNPARSEABLE', 'nested deeper', deep(100_000)],
    ['9 MB', 413, 'PAYLOAD_TOO_LARGE', 'larger than', JSON.stringify({ ...NOOP, key: 'x'.repeat(9_000_000) })],
    ['an unknown field', 422, 'SCHEMA_MISMATCH', 'colour', { ...NOOP, colour: 'red' }],
    ['no workflow', 422, 'SCHEMA_MISMATCH', 'body.workflow', { input: {} }],
    ['a workflow that is a subject', 422, 'SCHEMA_MISMATCH', 'body.workflow', { ...NOOP, workflow: 'a.>' }],
    ['an unknown workflow', 422, 'UNKNOWN_WORKFLOW', 'nope', { ...NOOP, workflow: 'nope' }],
    ['a task id that is a subject', 422, 'SCHEMA_MISMATCH', 'body.taskId', { ...NOOP, taskId: 'a.*' }],
    ['a deadline too long', 422, 'SCHEMA_MISMATCH', 'body.deadlineMs', { ...NOOP, deadlineMs: 1e12 }],
    ['a date nobody can read', 422, 'SCHEMA_MISMATCH', 'body.validAt', { ...NOOP, validAt: 'tomorrow' }],
    [
      'input that the workflow does not take',
      422,
      'INVALID_INPUT',
      'document',
      { workflow: 'contract-review', input: {} },
    ],
    ['an empty document', 422, 'INVALID_INPUT', 'document.text', document('')],
    ['a blank document', 422, 'INVALID_INPUT', 'blanks', document(' \n ')],
    ['a 5 MB document', 422, 'INVALID_INPUT', 'larger than', document('x'.repeat(5_000_000))],
  ])('%s → %i %s', async (_name, status, code, says, body) => {
    const answer = await post(body);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.body).toMatchObject({ status, code });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(says);
  });

  test('a compressed body → 415, which says so', async () => {
    const { status, body } = await post(NOOP, { 'content-encoding': 'gzip' });
    expect([status, body['title']]).toEqual([415, 'the body has the content-encoding "gzip": send it uncompressed']);
  });

  test('another content type → 415', async () => {
    expect((await post('workflow=noop', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415);
  });

  test('nothing of all that was written, and the services are up', async () => {
    expect(await world.platform.database.sql('SELECT task_id FROM ledger.tasks')).toEqual([]);
    expect((await call('/readyz')).body).toEqual({ ready: true, problems: [] });
    expect((await post(NOOP)).status).toBe(202);
  });
});

test.each([
  ['no header', {}, 'no API key was sent'],
  [
    'a key nobody has',
    { authorization: 'Bearer csk_test_nobody' },
    'this API key is not known here, or no longer good',
  ],
  ['another scheme', { authorization: 'Basic YWNtZTphY21l' }, 'what was sent is not an API key'],
  ['a word that is no key', { authorization: 'Bearer secret' }, 'what was sent is not an API key'],
])('%s → 401', async (_name, headers, title) => {
  for (const path of ['/v1/tasks', '/v1/tasks/x', '/v1/tasks/x/events']) {
    const response = await fetch(`${world.url()}${path}`, { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED', title });
  }
});

describe('a task over HTTP', () => {
  test('202 with its place, then 200 for the same key, 409 for the same key with another body', async () => {
    const first = await post({ ...NOOP, key: 'order-1' });
    expect(first.status).toBe(202);
    const { taskId } = first.body as unknown as { taskId: string };
    expect(first.headers.get('location')).toBe(`/v1/tasks/${taskId}`);
    const again = await post(NOOP, { 'idempotency-key': 'order-1' });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ taskId, duplicate: true });
    const other = await post({ ...document('Pay within 30 days.'), key: 'order-1' });
    expect(other.body).toMatchObject({ status: 409, code: 'IDEMPOTENCY_CONFLICT' });
    expect((await post({ ...NOOP, key: 'a' }, { 'idempotency-key': 'b' })).status).toBe(422);
    expect((await call(`/v1/tasks/${taskId}`)).body).toMatchObject({ taskId, key: 'order-1', workflow: 'noop' });
  });

  test('another tenant sees neither the task nor its events', async () => {
    const { taskId } = (await post(NOOP)).body as unknown as { taskId: string };
    for (const path of [`/v1/tasks/${taskId}`, `/v1/tasks/${taskId}/events`])
      expect((await call(path, { headers: bearer('globex') })).body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect((await call('/v1/tasks', { headers: bearer('globex') })).body).toEqual({ tasks: [], next: null });
  });

  test('the list in pages, each task once', async () => {
    for (let n = 0; n < 3; n++) await post(NOOP);
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const page = (await call(`/v1/tasks?limit=2${cursor}`)).body as unknown as {
        tasks: { taskId: string }[];
        next: string | null;
      };
      ids.push(...page.tasks.map((task) => task.taskId));
      if (page.next === null) break;
      cursor = `&cursor=${encodeURIComponent(page.next)}`;
    }
    const rows = await world.platform.database.sql<{ task_id: string }>(
      'SELECT task_id FROM ledger.tasks ORDER BY task_seq DESC',
    );
    expect(ids).toEqual(rows.map((row) => row.task_id));
  });

  test.each([
    ['/v1/tasks/00000000-0000-0000-0000-000000000000', 404],
    ['/v1/tasks/a.b', 400],
    ['/v1/tasks?limit=0', 400],
    ['/v1/tasks?state=lost', 400],
    ['/v1/tasks?cursor=nonsense', 400],
    ['/v1/tasks?before=x', 400],
    ['/v1/tasks?limit=2&limit=3', 400],
    ['/v1/nothing', 404],
  ])('%s → %i', async (path, status) => {
    expect((await call(path)).body.status).toBe(status);
  });

  test('a cursor nobody gave out → 400', async () => {
    const { taskId } = (await post(NOOP)).body as unknown as { taskId: string };
    for (const id of ['x', '1-', '0-1', '7-1', '1-999999999'])
      expect((await call(`/v1/tasks/${taskId}/events`, { headers: { 'last-event-id': id } })).body.status).toBe(400);
  });
});
