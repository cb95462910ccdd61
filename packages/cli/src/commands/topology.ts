import { applyTopology, diffTopology } from '@cleanslate/bus';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { findCredentials, rolesOf } from '../stack/credentials.ts';
import { openAdminBus } from '../target.ts';
import { toTable } from '../view/table.ts';
import { parsePositive, withExamples } from './options.ts';

export function addTopology(program: Command, context: CommandContext): void {
  const topology = program
    .command('topology')
    .description('streams and durable consumers, as the catalogue defines them');
  addApply(topology, context);
  addDiff(topology, context);
}

function addApply(topology: Command, context: CommandContext): void {
  const command = topology
    .command('apply')
    .description('create what is missing and repair what differs; safe to repeat')
    .option('--replicas <count>', 'copies of each stream in a cluster', parsePositive, 1)
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate topology apply', 'slate topology apply --replicas 3');
  command.action(async ({ replicas, json }: { replicas: number; json?: boolean }) => {
    const { out } = context.terminal;
    await using bus = await openAdminBus(context);
    const roles = rolesOf(await findCredentials(context.home));
    const applied = await applyTopology(bus, { roles, replicas });
    if (json) return out(JSON.stringify(applied));
    for (const what of applied.created) out(`created  ${what}`);
    for (const what of applied.updated) out(`updated  ${what}`);
    if (applied.created.length + applied.updated.length === 0) out('nothing to do');
    if (applied.sizeFactor < 1)
      out(
        `each stream may hold ${applied.sizeFactor * 100} % of what the catalogue gives it: the broker's storage has no room for more. ` +
          'It works; for the full size raise max_file_store or the disk, then apply again',
      );
  });
}

function addDiff(topology: Command, context: CommandContext): void {
  const command = topology
    .command('diff')
    .description('show what differs from the catalogue; exit code 1 if something does')
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate topology diff');
  command.action(async ({ json }: { json?: boolean }) => {
    const { out, note } = context.terminal;
    await using bus = await openAdminBus(context);
    const differences = await diffTopology(bus, { roles: rolesOf(await findCredentials(context.home)) });
    if (differences.length > 0) context.exitCode = EXIT.taskFailed;
    if (json) return out(JSON.stringify({ differences }));
    if (differences.length === 0) return out('as the catalogue says');
    const rows = differences.map((each) => [
      each.what,
      each.field,
      JSON.stringify(each.expected),
      each.found === undefined ? 'missing' : JSON.stringify(each.found),
      each.repairable ? 'slate topology apply' : 'by hand: drain, delete, apply',
    ]);
    for (const line of toTable(['WHAT', 'FIELD', 'EXPECTED', 'FOUND', 'REPAIR'], rows)) out(line);
    note(`${differences.length} differences`);
  });
}
