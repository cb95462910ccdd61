import { addApiKey, addTenants, rotateApiKey } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, type GatewayPlatform, startWithGateway } from './platform.ts';

const APP = 'https://app.example.com';
let world: GatewayPlatform;
beforeAll(async () => {
  world = await startWithGateway(['scheduler', 'gateway'], {
    CORS_ORIGINS: `${APP}, https://other.example.com`,
    RATE_PER_SECOND: '1000',
    RATE_BURST: '1000',
  });
});
afterAll(async () => {
  await world?.platform[Symbol.asyncDispose]();
});

const call = (path: string, init: RequestInit = {}) => fetch(`${world.url()}${path}`, init);
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  call(path, { method: 'POST', body, headers: { ...bearer(), 'content-type': 'application/json', ...headers } });
const problemOf = async (response: Response) => (await response.json()) as Record<string, unknown>;
const NOOP = '{"workflow":"noop","input":{}}';
const countTasks = async () => (await world.platform.database.sql('SELECT FROM ledger.tasks')).length;

async function submit(tenant = 'acme'): Promise<string> {
  const { taskId } = (await (await post('/v1/tasks', NOOP, bearer(tenant))).json()) as { taskId: string };
  return taskId;
}

test('a key of the database lets its tenant in; rotated, the old one is out soon and the new one in at once', async () => {
  const { adminUrl } = world.platform.database;
  await addTenants(adminUrl, ['initech']);
  const { key } = await addApiKey(adminUrl, 'initech');
  const as = (given: string) => call('/v1/tasks', { headers: { authorization: `Bearer ${given}` } });
  expect((await as(key)).status).toBe(200);
  const taskId = await submit('acme');
  const foreign = await call(`/v1/tasks/${taskId}`, { headers: { authorization: `Bearer ${key}` } });
  expect(foreign.status).toBe(404);
  const next = await rotateApiKey(adminUrl, 'initech', 0);
  expect((await as(next.key)).status).toBe(200);
  await waitFor('the old key to be refused', async () => (await as(key)).status === 401, { timeoutMs: 60_000 });
  // Only hashes are kept.
  const kept = JSON.stringify(await world.platform.database.sql('SELECT * FROM auth.api_keys'));
  expect(kept).not.toContain(next.key);
});

describe('G4: the tenant comes from the credential alone', () => {
  test('a tenant in body, query or header changes nothing, or is refused', async () => {
    const before = await countTasks();
    for (const field of ['tenantId', 'tenantid', 'tenant'])
      expect((await post('/v1/tasks', `{"workflow":"noop","input":{},"${field}":"globex"}`)).status).toBe(422);
    expect((await call('/v1/tasks?tenantId=globex', { headers: bearer() })).status).toBe(400);
    expect(await countTasks()).toBe(before);
    const taskId = await submit();
    const headers = { ...bearer('globex'), 'x-tenant': 'acme', 'tenant-id': 'acme' };
    expect((await call(`/v1/tasks/${taskId}`, { headers })).status).toBe(404);
  });

  test('nothing of another tenant can be read or changed by any route', async () => {
    const taskId = await submit();
    for (const path of ['', '/steps', '/story', '/events'])
      expect((await call(`/v1/tasks/${taskId}${path}`, { headers: bearer('globex') })).status).toBe(404);
    for (const verb of ['cancel', 'retry', 'fork'])
      expect((await post(`/v1/tasks/${taskId}/${verb}`, '{}', bearer('globex'))).status).toBe(404);
    const rows = await world.platform.database.sql('SELECT tenant_id, state FROM ledger.tasks WHERE task_id = $1', [
      taskId,
    ]);
    expect(rows).toMatchObject([{ tenant_id: 'acme', state: expect.stringMatching(/pending|executing/) }]);
  });
});

test.each(['a.b', '*', '>', 'a b', 'x'.repeat(300), '租户', "a'--"])(
  'G5: the id %s is refused and widens no filter',
  async (id) => {
    await submit();
    const at = encodeURIComponent(id);
    for (const path of [
      `/v1/tasks/${at}`,
      `/v1/facts/${at}`,
      `/v1/tasks/${at}/events`,
      `/v1/candidates?taskId=${at}`,
    ]) {
      const response = await call(path, { headers: bearer() });
      expect([path, response.status]).toEqual([path, 400]);
    }
    for (const path of [`/v1/tasks/${at}/cancel`, `/v1/schedules/${at}/pause`]) {
      const { status } = await post(path, '{}');
      expect([400, 404]).toContain(status);
    }
    expect((await post('/v1/tasks', JSON.stringify({ workflow: 'noop', input: {}, taskId: id }))).status).toBe(422);
  },
);

test.each([
  '{"workflow":"noop","input":{"__proto__":{"isAdmin":true}}}',
  '{"workflow":"noop","input":{"a":[{"constructor":{"prototype":{"x":1}}}]}}',
  '{"workflow":"noop","input":{},"__proto__":{"isAdmin":true}}',
])('G9: %s is refused, and no prototype is touched', async (body) => {
  const before = await countTasks();
  const response = await post('/v1/tasks', body);
  expect(await problemOf(response)).toMatchObject({ status: 400, code: 'UNPARSEABLE' });
  expect(await countTasks()).toBe(before);
  // Of the gateway's own objects: what it answers next has nothing that it was not given.
  expect(await (await call('/readyz')).json()).toEqual({ ready: true, problems: [] });
});

test('G10: deep, wide and long JSON is refused at once; the process is the same one', async () => {
  const { pid } = world.platform.service('gateway');
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n])));
  const bodies: [string, number][] = [
    [`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, 400],
    ['['.repeat(1_000_000), 400],
    [wide, 400],
    [`{"workflow":"${'x'.repeat(900_000)}","input":{}}`, 422],
    [`{"workflow":"noop","input":{"a":"${'x'.repeat(8 * 1024 * 1024)}"}}`, 413],
  ];
  for (const [body, status] of bodies) {
    const began = performance.now();
    const response = await post('/v1/tasks', body);
    const problem = await response.text();
    expect(response.status).toBe(status);
    // Not an echo of what was sent.
    expect(problem.length).toBeLessThan(6_000);
    expect(performance.now() - began).toBeLessThan(30_000);
  }
  expect(world.platform.service('gateway').pid).toBe(pid);
  expect((await post('/v1/tasks', NOOP)).status).toBe(202);
});

test('every answer, refusals too, tells browsers to run, frame, guess and keep nothing', async () => {
  for (const [path, init] of [
    ['/v1/tasks', { headers: bearer() }],
    ['/v1/tasks', {}],
    ['/nothing', {}],
    ['/openapi.json', {}],
    ['/v1/tasks', { method: 'PATCH' }],
  ] as const) {
    const { headers } = await call(path, init);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('a request id of the caller is kept where a log can hold it; a problem says it', async () => {
  const response = await call('/v1/tasks/none', { headers: { ...bearer(), 'x-request-id': 'order-4711' } });
  expect(response.headers.get('x-request-id')).toBe('order-4711');
  expect(await problemOf(response)).toMatchObject({
    requestId: 'order-4711',
    code: 'NOT_FOUND',
    instance: '/v1/tasks/none',
    type: 'urn:cleanslate:error:NOT_FOUND',
    remedy: expect.stringMatching(/./),
  });
  const odd = await call('/v1/tasks/none', { headers: { ...bearer(), 'x-request-id': 'a b"c' } });
  expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('a path asked with the wrong method → 405 and which are right; a path that is none → 404', async () => {
  for (const [path, method, allow] of [
    ['/v1/tasks', 'DELETE', 'POST, GET'],
    ['/v1/tasks/x', 'PUT', 'GET'],
    ['/v1/tasks/x/cancel', 'GET', 'POST'],
    ['/v1/schedules/x', 'PATCH', 'PUT, DELETE'],
    ['/openapi.json', 'POST', 'GET'],
  ] as const) {
    const response = await call(path, { method, headers: bearer() });
    expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, allow]);
    if (method !== 'GET') expect(await problemOf(response)).toMatchObject({ status: 405 });
  }
  expect((await call('/v1/nothing', { method: 'PATCH', headers: bearer() })).status).toBe(404);
});

test('a body of another kind → 415, one that is not wanted → 422', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])
    expect((await post('/v1/tasks', 'a=b', { 'content-type': type })).status).toBe(415);
  expect((await post('/v1/schedules/x/pause', '{"a":1}')).status).toBe(422);
});

describe('browsers of other origins', () => {
  const preflight = (origin: string) =>
    call('/v1/tasks', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });

  test('one that is named may ask, without cookies', async () => {
    const response = await preflight(APP);
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe(APP);
    expect(response.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    const listed = await call('/v1/tasks', { headers: { ...bearer(), origin: APP } });
    expect(listed.headers.get('access-control-allow-origin')).toBe(APP);
    expect(listed.headers.get('vary')).toContain('origin');
    const stream = await call(`/v1/tasks/${await submit()}/events`, { headers: { ...bearer(), origin: APP } });
    expect(stream.headers.get('access-control-allow-origin')).toBe(APP);
    await stream.body?.cancel();
  });

  test('any other may not', async () => {
    for (const origin of ['https://evil.example', 'null', `${APP}.evil.example`, APP.replace('https', 'http')]) {
      const response = await preflight(origin);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      expect(response.status).not.toBe(204);
    }
  });
});
