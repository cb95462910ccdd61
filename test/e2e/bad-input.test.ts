import type { Bus } from '@cleanslate/bus';
import { parseJson } from '@cleanslate/contracts';
import { type Platform, startPlatform, waitFor } from '@cleanslate/testing';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { show } from '../fixtures/scripted-platform.ts';

type Refusal = {
  readonly taskid: string;
  readonly causationid: string;
  readonly data: { readonly error: { code: string; message: string } };
};

let platform: Platform;
let tenant: Bus;
let gateway: Bus;
let pids: readonly number[];
const refusals: Refusal[] = [];

beforeAll(async () => {
  const services = [
    'scheduler',
    'gateway',
    'retriever',
    'analyzer',
    'generator',
    'validator',
    'knowledge-maintainer',
  ] as const;
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services, log: show });
  pids = platform.services.map((service) => service.pid);
  tenant = (await platform.client()).bus;
  // May submit for any tenant, also for one that nobody registered.
  gateway = await platform.broker.connect({ kind: 'gateway' });
  const listen = (bus: Bus, subject: string) =>
    bus.subscribe(subject, (message) => {
      const event = parseJson(message.data) as Refusal & { type: string };
      if (event.type === 'submit.refused.v1') refusals.push(event);
    });
  listen(gateway, 'evt.task.*.*');
  await gateway.flush();
});
afterAll(async () => {
  await gateway.close();
  await platform[Symbol.asyncDispose]();
});

let n = 0;
const document = (text: string, more = {}) => ({ name: 'a.txt', mediaType: 'text/plain', text, ...more });
const review = (text: string, more = {}) => ({
  workflow: 'contract-review',
  input: { document: document(text, more) },
});

/** What a tenant may do wrong, what it is told, and where. */
const FAULTS: readonly [what: string, data: unknown, code: string, message: RegExp][] = [
  [
    'an unknown workflow',
    { workflow: 'no-such', input: {} },
    'UNKNOWN_WORKFLOW',
    /"no-such" is not known: use one of contract-review, noop.*or start a worker that brings it/,
  ],
  ['a workflow that is no name', { workflow: 'No Such!', input: {} }, 'SCHEMA_MISMATCH', /workflow/],
  ['an unknown field of the submit', { workflow: 'noop', input: {}, colour: 'red' }, 'SCHEMA_MISMATCH', /colour/],
  ['an unknown field of the input', { workflow: 'noop', input: { x: 1 } }, 'INVALID_INPUT', /input.*x/],
  ['no document', { workflow: 'contract-review', input: {} }, 'INVALID_INPUT', /document/],
  ['an empty document', review(''), 'INVALID_INPUT', /document/],
  ['a blank document', review(' \n\t '), 'INVALID_INPUT', /document.*only blanks/],
  ['a PDF', review('%PDF-1.7', { mediaType: 'application/pdf' }), 'INVALID_INPUT', /mediaType/],
  ['a document of 5 MB', review('x'.repeat(5 * 1024 * 1024)), 'INVALID_INPUT', /document.*split it/],
  ['a key of 300 characters', { workflow: 'noop', input: {}, key: 'k'.repeat(300) }, 'SCHEMA_MISMATCH', /key/],
  ['a deadline in the past', { workflow: 'noop', input: {}, deadlineMs: -1 }, 'SCHEMA_MISMATCH', /deadlineMs/],
  ['a date that does not exist', { workflow: 'noop', input: {}, validAt: '2025-02-30' }, 'SCHEMA_MISMATCH', /validAt/],
  ['input that is no object', { workflow: 'noop', input: [] }, 'SCHEMA_MISMATCH', /input/],
];

const raw = (input: string) => `{"workflow":"noop","input":${input}}`;
const RAW_FAULTS: readonly [what: string, data: string, code: string, message: RegExp][] = [
  ['a NUL character', raw('{"a":"x\\u0000"}'), 'UNPARSEABLE', /NUL/],
  ['a __proto__ key', raw('{"__proto__":{"admin":true}}'), 'UNPARSEABLE', /__proto__/],
  ['a constructor key', raw('{"a":{"constructor":{"prototype":1}}}'), 'UNPARSEABLE', /constructor|prototype/],
  ['half a surrogate pair', raw('{"a":"\\ud800"}'), 'UNPARSEABLE', /surrogate/],
  [
    '400,000 keys',
    raw(`{${Array.from({ length: 400_000 }, (_, i) => `"key${i}":1`).join(',')}}`),
    'UNPARSEABLE',
    /keys: send less/,
  ],
  ['2,000,000 lists', raw(`{"a":[${'[],'.repeat(2_000_000)}[]]}`), 'UNPARSEABLE', /values: send less/],
  ['100 levels', raw(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`), 'UNPARSEABLE', /nested deeper than/],
  ['200,000 levels', raw(`${'['.repeat(200_000)}${']'.repeat(200_000)}`), 'UNPARSEABLE', /nested deeper than/],
];

describe('bad input', () => {
  afterEach(async () => {
    expect(await platform.database.sql('SELECT FROM ledger.tasks')).toEqual([]);
    expect(await platform.database.sql('SELECT FROM ledger.objects')).toEqual([]);
    expect(platform.services.map(({ pid, exit }) => [pid, exit])).toEqual(pids.map((pid) => [pid, undefined]));
  });

  test.each(FAULTS)('%s is refused by name', async (_, data, code, message) => {
    const refusal = await submit('acme', JSON.stringify(data));
    expect(refusal.data.error.code).toBe(code);
    expect(refusal.data.error.message).toMatch(message);
  });

  test.each(RAW_FAULTS)('%s is refused by name', async (_, data, code, message) => {
    const refusal = await submit('acme', data);
    expect(refusal.data.error.code).toBe(code);
    expect(refusal.data.error.message).toMatch(message);
  });

  test('an unknown tenant and a suspended one are refused', async () => {
    const data = JSON.stringify({ workflow: 'noop', input: {} });
    expect((await submit('nobody', data, gateway)).data.error).toMatchObject({ code: 'UNKNOWN_TENANT' });
    await platform.database.sql(`UPDATE ledger.tenants SET state = 'suspended' WHERE tenant_id = 'globex'`);
    expect((await submit('globex', data, gateway)).data.error).toMatchObject({
      code: 'TENANT_SUSPENDED',
      disposition: 'pause',
    });
  });

  test('the reserved task id is refused', async () => {
    const refusal = await submit('acme', JSON.stringify({ workflow: 'noop', input: {} }), tenant, {
      taskid: 'invalid',
    });
    expect(refusal.data.error.message).toMatch(/"invalid" is reserved/);
  });

  test('what is no JSON at all is answered under the reserved id', async () => {
    const before = refusals.length;
    tenant.publish('cmd.task.acme', Buffer.from('workflow: noop'));
    const refusal = await waitFor('the refusal', () => refusals[before]);
    expect(refusal).toMatchObject({ taskid: 'invalid', data: { error: { code: 'UNPARSEABLE' } } });
  });

  test('a client hears at once, with the code, and finds nothing half-written', async () => {
    await using client = await platform.client();
    for (const [, data, code] of FAULTS.filter(([what]) => /unknown workflow|5 MB|blank/.test(what))) {
      await expect(client.submit(data as Parameters<typeof client.submit>[0])).rejects.toMatchObject({ code });
    }
    expect((await client.tasks()).tasks).toEqual([]);
  });
});

test('good work is done after all that', async () => {
  await using client = await platform.client();
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });
  expect((await client.result(taskId)).state).toBe('completed');
  await expectConserved(platform);
});

/** Sends a submit as a stock client would and waits for its answer, found by the message's id. */
async function submit(
  tenantId: string,
  data: string,
  bus = tenant,
  more: Record<string, string> = {},
): Promise<Refusal> {
  const id = `bad-${++n}`;
  const head = {
    specversion: '1.0',
    id,
    source: '/test',
    type: 'task.submit.v1',
    datacontenttype: 'application/json',
    time: new Date().toISOString(),
    tenantid: tenantId,
    ...more,
  };
  const body = `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
  bus.publish(`cmd.task.${tenantId}`, Buffer.from(body));
  return await waitFor(`the answer to ${id}`, () => refusals.find((event) => event.causationid === id));
}
