import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { embeddingConfig, modelConfig } from '@cleanslate/llm';
import { baseConfig, databaseConfig, readingWorkerConfig, rolloutConfig, workerConfig } from '@cleanslate/runtime';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { gatewayConfig } from '../../services/gateway/src/config.ts';
import { maintainerConfig } from '../../services/knowledge-maintainer/src/config.ts';
import { retrieverConfig } from '../../services/retriever/src/config.ts';
import { schedulerConfig } from '../../services/scheduler/src/config.ts';

// The page is generated from the schemas that the services parse at their start.
// `npm test -- test/docs/configuration.test.ts -u` writes it.

type Fields = Readonly<Record<string, z.ZodType>>;

const HEAD = `# Configuration

A service reads its settings from environment variables, once, when it starts. If any is missing, empty or out of range, it refuses to start and lists all such
variables with what to set. The settings of the local stack: \`slate up --help\`.`;

const spread = { ...databaseConfig, ...rolloutConfig, ...embeddingConfig };
const SECTIONS: readonly (readonly [title: string, fields: Fields])[] = [
  ['Every service', baseConfig.shape],
  ['Every worker', without(workerConfig.shape, baseConfig.shape, modelConfig)],
  ['Every worker: language models', modelConfig],
  ['Every service but planner, analyzer and generator: database', databaseConfig],
  ['Scheduler and knowledge-maintainer: rolling upgrades', rolloutConfig],
  ['Knowledge-maintainer, gateway and retriever: embeddings', embeddingConfig],
  ['Scheduler', without(schedulerConfig.shape, baseConfig.shape, spread)],
  ['Knowledge-maintainer', without(maintainerConfig.shape, baseConfig.shape, spread)],
  ['Gateway', without(gatewayConfig.shape, baseConfig.shape, spread)],
  ['Retriever and validator', without(readingWorkerConfig.shape, workerConfig.shape, spread)],
  ['Retriever', without(retrieverConfig.shape, readingWorkerConfig.shape, spread)],
];

test('docs/reference/configuration.md lists the variables of all services with their defaults', async () => {
  const sections = SECTIONS.map(([title, fields]) => `## ${title}\n\n${toTable(fields)}`);
  const page = join(checkoutRoot, 'docs/reference/configuration.md');
  await expect(`${[HEAD, ...sections].join('\n\n')}\n`).toMatchFileSnapshot(page);
});

function without(fields: Fields, ...others: readonly Fields[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !others.some((other) => name in other)));
}

function toTable(fields: Fields): string {
  const rows = Object.entries(fields).map(([name, field]) => [`\`${name}\``, toDefault(field), describe(field)]);
  const table = [['variable', 'default', 'what it sets'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const toLine = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [toLine(table[0] ?? []), rule, ...rows.map(toLine)].join('\n');
}

function toDefault(field: z.ZodType): string {
  const unset = field.safeParse(undefined);
  if (!unset.success) return '**required**';
  return unset.data === undefined ? '' : `\`${unset.data}\``;
}

/** Throws for a variable that says nothing about itself. */
function describe(field: z.ZodType): string {
  expect(field.description).toBeDefined();
  return field.description?.replaceAll('|', '\\|') ?? '';
}
