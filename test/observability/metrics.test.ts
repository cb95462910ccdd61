import { BUILT_IN_ROLES } from '@cleanslate/contracts';
import { type Platform, SERVICE_NAMES, startPlatform, testApiKey, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { show } from '../fixtures/scripted-platform.ts';
import { type Exposition, familyOf, parseExposition } from './exposition.ts';
import { readMetricsReference } from './metrics-reference.ts';

/** Series of one metric in one service, after dozens of tasks of two tenants. */
const MAX_SERIES = 60;
const TASKS = 12;

const documented = readMetricsReference();
const scraped = new Map<string, Exposition>();
const ids: string[] = [];
let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), log: show });
  for (const tenant of ['acme', 'globex']) await runTasks(tenant);
  await makeFaults();
  await waitFor('every service’s numbers', async () => {
    for (const name of SERVICE_NAMES) scraped.set(name, await scrape(name));
    // Gauges are read every five seconds; the last ones tell of all tasks.
    return (
      total('scheduler', 'slate_stream_messages') > 0 &&
      total('knowledge-maintainer', 'slate_knowledge_outbox_rows') === 0
    );
  });
}, 240_000);
afterAll(() => platform[Symbol.asyncDispose]());

describe('the metrics of a running platform and docs/reference/metrics.md', () => {
  test('there are the same ones, of the same type, in the same services', () => {
    expect(documented.length).toBeGreaterThan(40);
    for (const service of SERVICE_NAMES) {
      const types = [...(scraped.get(service)?.types ?? [])].filter(([name]) => name.startsWith('slate_'));
      const expected = documented.filter(({ services }) => services.includes(service));
      expect([service, types.sort()]).toEqual([service, expected.map(({ name, type }) => [name, type]).sort()]);
    }
  });

  test('have the labels that stand there', () => {
    const seen = new Map<string, Set<string>>();
    for (const { types, series } of scraped.values()) {
      for (const { name, labels } of series) {
        const { service, le: _le, ...own } = labels;
        expect(SERVICE_NAMES).toContain(service);
        const family = familyOf(name, types);
        if (!family.startsWith('slate_')) continue;
        const known = seen.get(family) ?? new Set();
        seen.set(family, known.add(Object.keys(own).sort().join()));
      }
    }
    for (const { name, labels } of documented) {
      const found = seen.get(name);
      if (found !== undefined) expect([name, [...found]]).toEqual([name, [labels.join()]]);
    }
    // What counts nothing but faults has no series yet; the others must be here to be looked at.
    expect(seen.size).toBeGreaterThan(documented.length * 0.6);
  });

  test('stay few: no label grows with tasks, steps or tenants', () => {
    for (const [service, { types, series }] of scraped) {
      const counts = new Map<string, number>();
      for (const { name, labels } of series) {
        if ('le' in labels || !name.startsWith('slate_')) continue;
        const family = familyOf(name, types);
        counts.set(family, (counts.get(family) ?? 0) + 1);
        const values = Object.values(labels).join(' ');
        for (const id of [...ids, 'acme', 'globex']) expect([name, values.includes(id)]).toEqual([name, false]);
      }
      for (const [name, count] of counts) expect(count, `${service} ${name}`).toBeLessThan(MAX_SERIES);
    }
  });

  test('tell what happened', () => {
    expect(total('scheduler', 'slate_tasks_accepted_total', { workflow: 'noop' })).toBe(TASKS * 2);
    expect(total('scheduler', 'slate_task_seconds_count', { workflow: 'noop', state: 'completed' })).toBe(TASKS * 2);
    expect(total('scheduler', 'slate_transitions_total', { of: 'task', to: 'completed' })).toBe(TASKS * 2);
    // The planner has no part in a task of `noop`.
    for (const role of BUILT_IN_ROLES.filter((each) => each !== 'planner')) {
      expect(total(role, 'slate_attempts_total', { outcome: 'succeeded' })).toBe(TASKS * 2);
      expect(total(role, 'slate_attempt_seconds_count')).toBe(TASKS * 2);
    }
    expect(total('scheduler', 'slate_refusals_total', { code: 'UNKNOWN_WORKFLOW' })).toBe(1);
    expect(total('gateway', 'slate_http_request_seconds_count', { status: '401' })).toBe(1);
    expect(total('gateway', 'slate_query_errors_total', { code: 'NOT_FOUND' })).toBe(1);
    expect(total('scheduler', 'slate_tasks_unaccounted')).toBe(0);
    for (const name of SERVICE_NAMES) expect(total(name, 'slate_bus_connected')).toBe(1);
  });
});

async function runTasks(tenant: string): Promise<void> {
  const client = await platform.client(tenant);
  const submitted = await Promise.all(
    Array.from({ length: TASKS }, () => client.submit({ workflow: 'noop', input: {} })),
  );
  for (const { taskId } of submitted) {
    ids.push(taskId);
    expect((await client.result(taskId)).state).toBe('completed');
  }
}

/** One of each: a refused submit, an unknown task, a wrong key, a request that is in order. */
async function makeFaults(): Promise<void> {
  const client = await platform.client();
  await expect(client.submit({ workflow: 'no-such-workflow', input: {} })).rejects.toMatchObject({
    code: 'UNKNOWN_WORKFLOW',
  });
  await expect(client.task('no-such-task')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const lines = platform.service('gateway').lastLines(200).join('\n');
  const port = /"httpPort":(\d+)/.exec(lines)?.[1];
  const get = (key: string) =>
    fetch(`http://127.0.0.1:${port}/v1/tasks`, { headers: { authorization: `Bearer ${key}` } });
  expect([(await get('csk_wrong')).status, (await get(testApiKey('acme'))).status]).toEqual([401, 200]);
}

async function scrape(name: (typeof SERVICE_NAMES)[number]): Promise<Exposition> {
  const response = await fetch(`${platform.service(name).healthUrl}/metrics`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  return parseExposition(await response.text());
}

/** Sum of a metric's series that have these labels. */
function total(service: string, name: string, wanted: Readonly<Record<string, string>> = {}): number {
  const series = scraped.get(service)?.series ?? [];
  return series
    .filter(
      (each) => each.name === name && Object.entries(wanted).every(([label, value]) => each.labels[label] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
