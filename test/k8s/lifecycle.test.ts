import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { STOP_MARGIN_MS } from '@cleanslate/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { podsOf, servicesOf } from './pods.ts';
import { OVERLAYS, objectsOf } from './render.ts';

describe.each(OVERLAYS)('k8s/%s', (folder) => {
  test('F3: a pod is given more time than its drain may take', () => {
    const config = objectsOf(folder, 'ConfigMap').find(({ metadata }) => metadata.name.startsWith('cleanslate-'));
    const graceMs = Number(z.looseObject({ GRACE_MS: z.string() }).parse(config?.['data']).GRACE_MS);
    for (const { name, pod, container } of servicesOf(folder)) {
      const preStop = z.object({ sleep: z.object({ seconds: z.number() }) }).optional();
      const before = preStop.parse(container.lifecycle?.preStop)?.sleep.seconds ?? 0;
      const drainSeconds = before + (graceMs + STOP_MARGIN_MS) / 1_000;
      expect(pod.terminationGracePeriodSeconds, name).toBeGreaterThan(drainSeconds + 5);
    }
  });

  test('F4: liveness asks the event loop only, and bears it being blocked for a while; readiness asks everything', () => {
    for (const { name, container } of servicesOf(folder)) {
      const { livenessProbe, readinessProbe, startupProbe } = container;
      expect([name, livenessProbe?.httpGet, startupProbe?.httpGet]).toEqual([
        name,
        { path: '/healthz', port: 'health' },
        { path: '/healthz', port: 'health' },
      ]);
      expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'health' });
      // Each of the ready checks may take two seconds.
      expect(readinessProbe?.timeoutSeconds).toBeGreaterThan(2);
      const { periodSeconds = 0, failureThreshold = 0, timeoutSeconds = 0 } = livenessProbe ?? {};
      expect(timeoutSeconds).toBeGreaterThan(4);
      expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(60);
    }
  });

  test('F10: JetStream’s own check belongs to start and readiness of the broker, never to its liveness', () => {
    for (const { name, container } of podsOf(folder)) {
      if (name !== 'nats') continue;
      expect(container.startupProbe?.httpGet?.path).toBe('/healthz');
      expect(container.readinessProbe?.httpGet?.path).toBe('/healthz?js-server-only=true');
      expect(container.livenessProbe?.httpGet?.path).toBe('/healthz?js-enabled-only=true');
    }
  });
});

test('F10 is about something: both overlays bring a broker, one of three servers and one of one', () => {
  const replicas = (folder: string) => podsOf(folder).find(({ name }) => name === 'nats')?.replicas;
  expect([replicas('overlays/dev'), replicas('overlays/prod')]).toEqual([1, 3]);
});

test('F6: nothing stands between the kernel and Node: exec form, no shell, no npm', () => {
  const dockerfile = readFileSync(join(checkoutRoot, 'Dockerfile'), 'utf8');
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  const entrypoint = z.array(z.string()).parse(JSON.parse(/^ENTRYPOINT (.+)$/m.exec(last)?.[1] ?? 'null'));
  expect(entrypoint).toEqual(['node', '/app/dist/run.mjs']);
  expect(last).toMatch(/^USER 10001:10001$/m);
  expect(last).toMatch(/^CMD \["--help"\]$/m);
  expect(last).not.toMatch(/^RUN /m);
});

/** Statements after which an older release would fail on the newer schema. */
const CONTRACTING = [
  /\bDROP\s+(TABLE|COLUMN|SCHEMA|VIEW|FUNCTION|TYPE)\b(?!\s+IF\s+EXISTS\s+pg_temp)/i,
  /\bRENAME\s+(TO|COLUMN)\b/i,
  /\bADD\s+COLUMN\s+(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+[^,;]*\bNOT\s+NULL\b(?![^,;]*\b(DEFAULT|GENERATED)\b)/i,
  /\bALTER\s+COLUMN\s+\w+\s+(TYPE|SET\s+NOT\s+NULL)\b/i,
];

/** The schema of the first release: everything up to here is one state. Raised when a release is cut, never lowered. */
const RELEASED = 9_999;

test('F8: a migration after a release only expands: what old pods use stays as it is', () => {
  const folder = join(checkoutRoot, 'packages/store/migrations');
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  expect(names.length).toBeGreaterThan(5);
  const faults = (sql: string) => CONTRACTING.filter((pattern) => pattern.test(sql.replace(/--.*$/gm, '')));
  for (const name of names) {
    if (Number(name.slice(0, 4)) <= RELEASED) continue;
    expect([name, faults(readFileSync(join(folder, name), 'utf8'))]).toEqual([name, []]);
  }
  expect(faults('ALTER TABLE a DROP COLUMN b')).toHaveLength(1);
  expect(faults('ALTER TABLE a ADD COLUMN b int NOT NULL')).toHaveLength(1);
  expect(faults('ALTER TABLE a ADD COLUMN b int NOT NULL DEFAULT 0')).toEqual([]);
  expect(faults('ALTER TABLE a RENAME TO c')).toHaveLength(1);
  expect(faults('-- DROP TABLE a\nCREATE TABLE b (c int NOT NULL)')).toEqual([]);
});
