import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { listAll, nameOf, openProgram, toReference } from '../scripts/reference.ts';

const program = openProgram({ write: () => undefined });
const commands = listAll(program);
const leaves = commands.filter((command) => command.commands.length === 0);

test('docs/reference/cli.md is what the commands say today (else: node packages/cli/scripts/generate-reference.ts)', () => {
  const file = join(import.meta.dirname, '../../../docs/reference/cli.md');
  expect(readFileSync(file, 'utf8')).toBe(toReference());
});

test('every command says what it does and has examples', () => {
  expect(leaves.length).toBeGreaterThan(30);
  const sections = toReference().split('\n## ');
  for (const command of leaves) {
    const section = sections.find((each) => each.startsWith(`${nameOf(command)}\n`)) ?? '';
    expect([nameOf(command), command.description() !== '', section.includes('Examples:\n  $ ')]).toEqual([
      nameOf(command),
      true,
      true,
    ]);
  }
});

test('every option says what it is for', () => {
  const silent = commands.flatMap((command: Command) =>
    command.options
      .filter((option) => !option.hidden && option.description === '')
      .map((option) => `${nameOf(command)} ${option.long}`),
  );
  expect(silent).toEqual([]);
});

test('every command prints JSON for machines, but for those whose result is a file', () => {
  const without = leaves.filter((command) => !command.options.some(({ long }) => long === '--json')).map(nameOf);
  expect(without.filter((name) => !name.startsWith('slate secrets '))).toEqual(['slate completion']);
});

test('listings page alike', () => {
  const listings = leaves.filter((command) => /^(list|as-of|candidates)$/.test(command.name()));
  const paged = listings.filter((command) => command.options.some(({ long }) => long === '--limit'));
  expect(paged.map(nameOf)).toEqual(
    expect.arrayContaining([
      'slate task list',
      'slate dlq list',
      'slate schedule list',
      'slate fact as-of',
      'slate fact candidates',
    ]),
  );
  for (const command of paged)
    expect([nameOf(command), command.options.some(({ long }) => long === '--cursor')]).toEqual([nameOf(command), true]);
});
