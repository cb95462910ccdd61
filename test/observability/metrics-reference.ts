import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_IN_ROLES } from '@cleanslate/contracts';
import { checkoutRoot } from '@cleanslate/infra';
import { SERVICE_NAMES } from '@cleanslate/testing';

export type DocumentedMetric = {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly services: readonly string[];
};

const ROW = /^\|\s*`(slate_\w+)`\s*\|\s*(\w+)\s*\|([^|]*)\|([^|]+)\|/;
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  all: SERVICE_NAMES,
  workers: BUILT_IN_ROLES,
  databases: SERVICE_NAMES.filter((name) => name !== 'planner' && name !== 'analyzer' && name !== 'generator'),
};

/** What docs/reference/metrics.md says there is. */
export function readMetricsReference(): readonly DocumentedMetric[] {
  const text = readFileSync(join(checkoutRoot, 'docs/reference/metrics.md'), 'utf8');
  return text.split('\n').flatMap((line) => {
    const [, name, type, labels, services] = ROW.exec(line) ?? [];
    if (name === undefined || type === undefined || labels === undefined || services === undefined) return [];
    const named = services.split(',').map((service) => service.trim());
    return [
      {
        name,
        type,
        labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).sort(),
        services: named.flatMap((service) => GROUPS[service] ?? [service]),
      },
    ];
  });
}
