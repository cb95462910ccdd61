import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { BUILT_IN_ROLES } from '@cleanslate/contracts';
import { checkoutRoot, SEMI_SPACE_MB } from '@cleanslate/infra';
import { SERVICE_NAMES } from '@cleanslate/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { findModelFaults } from './models.ts';
import { podsOf, selects, servicesOf, toMebibytes } from './pods.ts';
import { componentObjects, LOOSE_COMPONENTS, type Manifest, OVERLAYS, objectsOf, render } from './render.ts';

describe.each(OVERLAYS)('k8s/%s', (folder) => {
  test('is built by kustomize, and each object is what the typed models of Kubernetes and KEDA say', () => {
    const objects = render(folder);
    expect(objects.length).toBeGreaterThan(20);
    expect(objects.flatMap((each) => findModelFaults(each).map((fault) => `${each.metadata.name}: ${fault}`))).toEqual(
      [],
    );
    const namespaces = objects.filter(({ kind }) => kind !== 'Namespace').map(({ metadata }) => metadata.namespace);
    expect(new Set(namespaces)).toEqual(new Set(['cleanslate']));
  });

  test('has one Deployment for each service, with the service as its argument, and nothing that says which pod it is', () => {
    const services = servicesOf(folder);
    expect(services.map(({ name }) => name).sort()).toEqual([...SERVICE_NAMES].sort());
    for (const { name, container, selector, labels, pod } of services) {
      expect([container.args, container.command]).toEqual([[name], undefined]);
      expect(selector).toEqual({ 'app.kubernetes.io/name': name });
      expect(selects(selector ?? {}, labels)).toBe(true);
      expect(pod.volumes.filter((volume) => !volume.secret)).toEqual([]);
      for (const { labelSelector } of pod.topologySpreadConstraints ?? [])
        expect(labelSelector.matchLabels).toEqual(selector);
      expect(pod.topologySpreadConstraints).toHaveLength(2);
    }
  });

  test('runs nothing as root, nothing with a token, and writes to no root file system', () => {
    const accounts = objectsOf(folder, 'ServiceAccount');
    for (const { name, pod, container, ours } of podsOf(folder)) {
      const account = accounts.find(({ metadata }) => metadata.name === pod.serviceAccountName);
      expect([name, account?.['automountServiceAccountToken']]).toEqual([name, false]);
      // PostgreSQL's image unpacks itself where it stands.
      if (name !== 'timescaledb')
        expect([name, container.securityContext.readOnlyRootFilesystem]).toEqual([name, true]);
      if (ours) expect(pod.volumes.filter((volume) => !volume.secret)).toEqual([]);
    }
  });

  test('holds no secret: passwords are named, never said', () => {
    expect(objectsOf(folder, 'Secret')).toEqual([]);
    for (const { name, container } of podsOf(folder)) {
      expect(container.envFrom.filter((each) => each.secretRef !== undefined)).toEqual([]);
      const said = container.env.filter(
        (each) =>
          /PASSWORD|SECRET|TOKEN|DATABASE_URL|_KEY$/.test(each.name) && each.valueFrom?.secretKeyRef === undefined,
      );
      expect([name, said]).toEqual([name, []]);
    }
    const text = JSON.stringify(objectsOf(folder, 'ConfigMap'));
    expect(text).not.toMatch(/:\/\/[^\s/@"]+:[^\s/@"]+@|password: *"?[^$"\s]/i);
  });

  test('every pod may be evicted one at a time, and asks for what it needs', () => {
    const budgets = objectsOf(folder, 'PodDisruptionBudget').map((each) => Budget.parse(each));
    for (const { kind, name, labels, container } of podsOf(folder)) {
      const { requests, limits } = container.resources;
      expect(toMebibytes(limits.memory)).toBeGreaterThanOrEqual(toMebibytes(requests.memory));
      if (kind === 'Job') continue;
      const found = budgets.filter(({ spec }) => selects(spec.selector.matchLabels, labels));
      expect([name, found.map(({ spec }) => spec.maxUnavailable)]).toEqual([name, [1]]);
    }
  });

  test('V8 gives up before the kernel takes the process, and has the room for young objects that it has everywhere', () => {
    for (const { name, container } of servicesOf(folder)) {
      const own = container.env.find((each) => each.name === 'NODE_OPTIONS')?.value;
      const options = own ?? configOf(folder)['NODE_OPTIONS'] ?? '';
      const [heap, young] = [/--max-old-space-size=(\d+)/, /--max-semi-space-size=(\d+)/].map((one) =>
        Number(one.exec(options)?.[1]),
      );
      expect([name, young]).toEqual([name, SEMI_SPACE_MB]);
      // Node would keep the maps of all that is loaded: 30 MB of a scheduler at full load.
      expect(options, name).not.toContain('source-maps');
      expect(toMebibytes(container.resources.limits.memory)).toBeGreaterThan((heap ?? Number.NaN) + 128);
    }
  });

  test('every ConfigMap that is named is there', () => {
    const there = objectsOf(folder, 'ConfigMap').map(({ metadata }) => metadata.name);
    for (const { container, pod } of podsOf(folder)) {
      for (const each of container.envFrom) expect(there).toContain(each.configMapRef?.name);
      for (const each of pod.volumes) if (each.configMap) expect(there).toContain(each.configMap.name);
    }
  });

  test('the network is closed but for what a service needs', () => {
    const policies = objectsOf(folder, 'NetworkPolicy').map((each) => Policy.parse(each));
    const denied = policies.find(({ metadata }) => metadata.name === 'default-deny');
    expect(denied?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    for (const { name, labels, container, ours } of podsOf(folder)) {
      const ports = policies
        .filter(({ spec }) => selects(spec.podSelector.matchLabels ?? {}, labels))
        .flatMap(({ spec }) => (spec.egress ?? []).flatMap((rule) => (rule.ports ?? []).map(({ port }) => port)));
      const needsDatabase = container.env.some((each) => each.name === 'DATABASE_URL');
      expect([name, ports.includes(5432)]).toEqual([name, needsDatabase]);
      if (ours) expect([name, ports.includes(4222)]).toEqual([name, name !== 'migrate']);
    }
    for (const { spec } of policies)
      for (const rule of spec.egress ?? [])
        expect(rule.ports?.length ?? 0, 'a rule without ports opens all').toBeGreaterThan(0);
  });
});

test.each(LOOSE_COMPONENTS)('component %s is valid; it opens nothing private', (name) => {
  const objects = componentObjects(name);
  expect(objects.length).toBeGreaterThan(0);
  expect(objects.flatMap((each) => findModelFaults(each))).toEqual([]);
  for (const range of ['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16'])
    expect(JSON.stringify(objects)).toContain(range);
});

test('with the component models whoever asks an embedding server may leave the cluster, and is given its key where there is one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cleanslate-overlay-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const k8s = join(checkoutRoot, 'k8s');
  const parts = {
    resources: [relative(folder, join(k8s, 'base'))],
    components: [relative(folder, join(k8s, 'components/models'))],
  };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(parts));
  const overlay = relative(k8s, folder);
  expect(render(overlay).flatMap((each) => findModelFaults(each))).toEqual([]);
  const policy = objectsOf(overlay, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'to-models');
  const { matchExpressions } = ToModels.parse(policy).spec.podSelector;
  const embedding = ['gateway', 'knowledge-maintainer', 'retriever'];
  expect(matchExpressions[0].values).toEqual(expect.arrayContaining([...embedding, ...BUILT_IN_ROLES]));
  for (const { name, container } of servicesOf(overlay)) {
    const keys = container.env.filter((each) => each.name === 'EMBEDDING_API_KEY').map(({ valueFrom }) => valueFrom);
    const secretKeyRef = { name: `cleanslate-${name}`, key: 'embedding-api-key', optional: true };
    expect([name, keys]).toEqual([name, embedding.includes(name) ? [{ secretKeyRef }] : []]);
    const asked = container.env.filter((each) => each.name === 'MODEL_API_KEY').map(({ valueFrom }) => valueFrom);
    const modelKey = { secretKeyRef: { name: `cleanslate-${name}`, key: 'model-api-key', optional: true } };
    expect([name, asked]).toEqual([name, BUILT_IN_ROLES.some((role) => role === name) ? [modelKey] : []]);
  }
});

test('a misspelt field, a wrong type, a kind nobody knows and a missing field are found', () => {
  const [deployment] = objectsOf('base', 'Deployment');
  if (deployment === undefined) throw new Error('no Deployment');
  const broken = (change: object): Manifest => ({ ...structuredClone(deployment), ...change });
  const spec = z.looseObject({}).parse(deployment['spec']);
  expect(findModelFaults(deployment)).toEqual([]);
  expect(findModelFaults(broken({ spec: { ...spec, replica: 2 } }))).toEqual([
    '/spec/replica is no field of apps/v1/Deployment',
  ]);
  expect(findModelFaults(broken({ spec: { ...spec, replicas: '2' } })).join()).toContain('must be integer');
  expect(findModelFaults(broken({ spec: { ...spec, template: undefined } })).join()).toContain('template');
  expect(findModelFaults(broken({ apiVersion: 'apps/v2' }))).toEqual(['apps/v2/Deployment has no model here']);
});

describe('F1, F2: autoscaling', () => {
  const scaled = objectsOf('overlays/prod', 'ScaledObject').map((each) => Scaled.parse(each));
  const metrics = readFileSync(join(checkoutRoot, 'docs/reference/metrics.md'), 'utf8');

  test('F1: names what the ledger has, holds its number where Prometheus can’t say, and is no part of the plain manifests', () => {
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name).sort()).toEqual([...BUILT_IN_ROLES].sort());
    for (const { spec } of scaled) {
      const [trigger] = spec.triggers;
      expect(trigger.type).toBe('prometheus');
      for (const [, name = '', role] of trigger.metadata.query.matchAll(/(slate_\w+)\{role="([^"]+)"\}/g)) {
        expect(metrics).toContain(`\`${name}\``);
        expect(role).toBe(spec.scaleTargetRef.name);
      }
      expect(trigger.metadata.ignoreNullValues).toBe('false');
      expect(spec.fallback.replicas).toBeGreaterThanOrEqual(1);
      expect(spec.fallback.replicas).toBeLessThan(spec.maxReplicaCount);
    }
    for (const folder of ['base', 'overlays/dev']) expect(objectsOf(folder, 'ScaledObject')).toEqual([]);
  });

  test('F2: one step in flight and none waiting keeps at least one worker, twenty in flight keep three', () => {
    for (const { spec } of scaled) {
      const desired = (ready: number, inFlight: number) => {
        const values = { slate_steps_ready: ready, slate_steps_in_flight: inFlight };
        const terms = spec.triggers[0].metadata.query.split(' + ').map((term) => {
          const name = /^max\((\w+)\{/.exec(term)?.[1];
          if (name !== 'slate_steps_ready' && name !== 'slate_steps_in_flight') throw new Error(`can't read ${term}`);
          return values[name];
        });
        const sum = terms.reduce((total, value) => total + value, 0);
        return Math.max(spec.minReplicaCount, Math.ceil(sum / Number(spec.triggers[0].metadata.threshold)));
      };
      expect(desired(0, 0)).toBeGreaterThanOrEqual(1);
      expect(desired(0, 1)).toBeGreaterThanOrEqual(1);
      expect(desired(0, 20)).toBe(3);
      expect(desired(40, 8)).toBe(6);
    }
  });

  test('whoever is scaled has no number of its own, so that an apply does not set it back', () => {
    const targets = [...scaled.map(({ spec }) => spec.scaleTargetRef.name), 'gateway'];
    for (const { name, replicas } of servicesOf('overlays/prod'))
      expect([name, replicas === undefined]).toEqual([name, targets.includes(name)]);
    for (const { replicas } of servicesOf('base')) expect(replicas).toBeUndefined();
  });
});

const Budget = z.looseObject({
  spec: z.object({ maxUnavailable: z.number(), selector: z.object({ matchLabels: z.record(z.string(), z.string()) }) }),
});
const Policy = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    podSelector: z.object({ matchLabels: z.record(z.string(), z.string()).optional() }),
    egress: z.array(z.looseObject({ ports: z.array(z.looseObject({ port: z.number() })).optional() })).optional(),
  }),
});
const ToModels = z.looseObject({
  spec: z.looseObject({
    podSelector: z.object({
      matchExpressions: z.tuple([
        z.object({ key: z.literal('app.kubernetes.io/name'), operator: z.literal('In'), values: z.array(z.string()) }),
      ]),
    }),
  }),
});
const Scaled = z.looseObject({
  spec: z.looseObject({
    scaleTargetRef: z.object({ name: z.string() }),
    minReplicaCount: z.number().min(1),
    maxReplicaCount: z.number(),
    fallback: z.object({ failureThreshold: z.number(), replicas: z.number() }),
    triggers: z.tuple([
      z.looseObject({
        type: z.string(),
        metadata: z.looseObject({ query: z.string(), threshold: z.string(), ignoreNullValues: z.string() }),
      }),
    ]),
  }),
});

function configOf(folder: string): Record<string, string> {
  const found = objectsOf(folder, 'ConfigMap').find(({ metadata }) => metadata.name.startsWith('cleanslate-'));
  return z.record(z.string(), z.string()).parse(found?.['data']);
}
