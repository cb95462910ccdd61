import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { objectsOf } from '../k8s/render.ts';
import { readMetricsReference } from './metrics-reference.ts';

const at = (path: string) => join(checkoutRoot, path);
const read = (path: string) => readFileSync(at(path), 'utf8');

const Panel = z.looseObject({
  id: z.number(),
  type: z.string(),
  title: z.string().min(1),
  gridPos: z.object({ h: z.number(), w: z.number(), x: z.number(), y: z.number() }),
  targets: z.array(z.looseObject({ expr: z.string(), refId: z.string() })).default([]),
});
const Dashboard = z.looseObject({
  uid: z.string(),
  title: z.string(),
  schemaVersion: z.number(),
  panels: z.array(Panel),
});
const Rules = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Slate[A-Z]\w+$/),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.strictObject({ summary: z.string(), action: z.string() }),
        }),
      ),
    }),
  ),
});

/** prom-client's own, of which a few are used. */
const PROCESS_METRICS = ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'];
const known = new Map(readMetricsReference().map((metric) => [metric.name, metric]));

type Expression = { readonly where: string; readonly expr: string };

describe.each([
  ['infra/dashboards/cleanslate.json', readDashboard],
  ['infra/alerts/slate.rules.yaml', readRules],
  ['k8s/components/keda', readScalers],
])('%s', (_, load) => {
  test('holds PromQL of metrics and labels that exist, functions that fit their type', () => {
    const expressions = load();
    expect(expressions.length).toBeGreaterThan(3);
    for (const { where, expr } of expressions) expect([where, findFaults(expr)]).toEqual([where, []]);
  });
});

test('a misspelt metric, a wrong label, a rate of a gauge and broken syntax are found', () => {
  expect(findFaults('max(slate_steps_redy)')).toEqual(['slate_steps_redy is no metric']);
  expect(findFaults('slate_steps_ready{rolle="x"}')).toEqual(['slate_steps_ready has no label rolle']);
  expect(findFaults('sum by (rolle) (slate_steps_ready)')).toEqual(['no metric here has a label rolle']);
  expect(findFaults('rate(slate_steps_ready[5m])')).toEqual(['rate of slate_steps_ready, a gauge']);
  expect(findFaults('slate_attempts_total > 0')).toEqual([
    'slate_attempts_total is a counter: take its rate or increase',
  ]);
  expect(findFaults('sum(rate(slate_attempts_total[5m])')).toEqual(['syntax']);
});

test('panels don’t overlap, and each has an id of its own', () => {
  const { panels } = Dashboard.parse(JSON.parse(read('infra/dashboards/cleanslate.json')));
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const [i, { gridPos: a }] of panels.entries()) {
    expect(a.x + a.w).toBeLessThanOrEqual(24);
    for (const { gridPos: b } of panels.slice(i + 1)) {
      const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
      expect(apart).toBe(true);
    }
  }
});

const promtool = spawnSync('promtool', ['--version'], { timeout: 10_000 }).status === 0;
// Where Prometheus is not installed the expressions are parsed all the same, above; when they fire is then not tried.
const testWithPrometheus = promtool ? test : () => undefined;
testWithPrometheus('Prometheus’ own tool takes the rules, and they fire when they should', () => {
  for (const args of [
    ['check', 'rules', at('infra/alerts/slate.rules.yaml')],
    ['test', 'rules', at('infra/alerts/slate.rules.test.yaml')],
  ]) {
    const run = spawnSync('promtool', args, { encoding: 'utf8', timeout: 60_000 });
    expect([run.status, run.stderr]).toEqual([0, expect.any(String)]);
    expect(run.stdout).toContain('SUCCESS');
  }
});

function readDashboard(): Expression[] {
  const { panels } = Dashboard.parse(JSON.parse(read('infra/dashboards/cleanslate.json')));
  return panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr })));
}

function readRules(): Expression[] {
  const { groups } = Rules.parse(parse(read('infra/alerts/slate.rules.yaml')));
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ where: alert, expr })));
}

function readScalers(): Expression[] {
  const Scaler = z.looseObject({
    spec: z.looseObject({ triggers: z.array(z.looseObject({ metadata: z.looseObject({ query: z.string() }) })) }),
  });
  return objectsOf('overlays/prod', 'ScaledObject').flatMap((each) =>
    Scaler.parse(each).spec.triggers.map(({ metadata }) => ({ where: each.metadata.name, expr: metadata.query })),
  );
}

/** What is wrong with an expression, by Prometheus' own grammar and the reference of our metrics. */
function findFaults(expr: string): string[] {
  const faults: string[] = [];
  const labels = new Set(['service', 'le', 'pod']);
  const grouped: string[] = [];
  const tree = parser.parse(expr);
  const textOf = (node: { from: number; to: number }) => expr.slice(node.from, node.to);
  let broken = false;
  tree.iterate({
    enter: (node) => {
      if (node.type.isError) broken = true;
      if (node.name === 'GroupingLabels')
        grouped.push(
          ...textOf(node)
            .replace(/[()\s]/g, '')
            .split(',')
            .filter(Boolean),
        );
      if (node.name !== 'VectorSelector') return;
      const name = /^\w+/.exec(textOf(node))?.[0] ?? '';
      const metric = known.get(name) ?? known.get(name.replace(/_(bucket|sum|count)$/, ''));
      if (metric === undefined) {
        if (!PROCESS_METRICS.includes(name)) faults.push(`${name} is no metric`);
        return;
      }
      for (const label of metric.labels) labels.add(label);
      for (const [, label = ''] of textOf(node).matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g))
        if (!metric.labels.includes(label)) faults.push(`${name} has no label ${label}`);
      const rated = /\b(rate|increase)\($/.exec(expr.slice(0, node.from))?.[1];
      if (rated !== undefined && metric.type === 'gauge') faults.push(`${rated} of ${name}, a gauge`);
      if (rated === undefined && metric.type !== 'gauge')
        faults.push(`${name} is a ${metric.type}: take its rate or increase`);
    },
  });
  if (broken) return ['syntax'];
  for (const label of grouped) if (!labels.has(label)) faults.push(`no metric here has a label ${label}`);
  return faults;
}
