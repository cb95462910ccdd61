import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { describeAfterRestore, repairAfterRestore } from '../doctor/after-restore.ts';
import { checkAge } from '../doctor/age-check.ts';
import { checkBroker } from '../doctor/broker-checks.ts';
import type { Check } from '../doctor/check.ts';
import { checkDatabase } from '../doctor/database-checks.ts';
import { checkLocal } from '../doctor/local-checks.ts';
import { askForRepair } from '../doctor/repair.ts';
import { EXIT } from '../exit-code.ts';
import { findStack } from '../stack/stack-file.ts';
import { startStack } from '../stack/start-stack.ts';
import type { Style } from '../terminal.ts';
import { toTable } from '../view/table.ts';
import { withExamples } from './options.ts';

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red', skip: 'dim' } as const satisfies Record<
  Check['state'],
  Style
>;

type DoctorOptions = { readonly afterRestore?: boolean; readonly repair?: boolean; readonly json?: boolean };

export function addDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description(
      'check that everything is as it should be; exit code 1 if something fails, 3 if broker or database cannot be reached',
    )
    .option(
      '--after-restore',
      'after a backup was restored, with all services stopped: begin a new epoch, list what the backup lacks',
    )
    .option('--repair', 'have a scheduler restart whatever nothing would move, then check')
    .option('--json', 'print JSON for machines');
  withExamples(
    command,
    'slate doctor',
    'slate doctor --json | jq \'.checks[] | select(.state != "ok")\'',
    'slate doctor --repair',
    'slate doctor --after-restore --json | jq .tasks',
  );
  command.action(async ({ json, afterRestore, repair }: DoctorOptions) => {
    const { out, style } = context.terminal;
    if (afterRestore) {
      await using _servers = await serversToRepair(context);
      const report = await repairAfterRestore(context);
      if (json) return out(JSON.stringify(report));
      for (const line of describeAfterRestore(report)) out(line);
      return;
    }
    const repaired = repair ? await askForRepair(context) : undefined;
    const checks = [
      ...(await checkLocal(context)),
      ...(await checkBroker(context)),
      ...(await checkDatabase(context)),
      ...(await checkAge(context)),
    ];
    context.exitCode = verdictOf(checks);
    if (json) return out(JSON.stringify({ healthy: context.exitCode === EXIT.ok, repaired, checks }));
    if (repaired !== undefined) out(`repaired  ${repaired}`);
    const rows = checks.map((check) => [style(STYLES[check.state], check.state), check.name, check.found]);
    const table = toTable(['', 'CHECK', 'FOUND'], rows);
    out(table[0]);
    for (const [index, check] of checks.entries()) {
      out(table[index + 1]);
      if (check.remedy !== undefined) out(`      → ${check.remedy}`);
    }
  });
}

/**
 * If no stack runs and no broker was named, starts this home's servers for as long as the repair takes: a stack over a
 * restored database does not start.
 */
async function serversToRepair(context: CommandContext): Promise<AsyncDisposable | undefined> {
  const { config, home, terminal, signal } = context;
  if (config.natsUrl !== undefined || (await findStack(home))?.running) return undefined;
  const stack = await startStack({
    home,
    config,
    tenants: [],
    isServersOnly: true,
    say: (line) => terminal.note(line),
    signal,
  });
  return { [Symbol.asyncDispose]: () => stack.stop() };
}

function verdictOf(checks: readonly Check[]): number {
  const failed = new Set(checks.filter((check) => check.state === 'fail').map((check) => check.name));
  if (failed.has('broker') || failed.has('database')) return EXIT.cannotConnect;
  return failed.size > 0 ? EXIT.taskFailed : EXIT.ok;
}
