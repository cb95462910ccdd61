import { Command } from 'commander';
import { addAsk } from './commands/ask.ts';
import { addCompletion } from './commands/completion.ts';
import { addDemo } from './commands/demo.ts';
import { addDlq } from './commands/dlq.ts';
import { addDoctor } from './commands/doctor.ts';
import { addDown } from './commands/down.ts';
import { addExport } from './commands/export.ts';
import { addFact } from './commands/fact.ts';
import { addKnowledge } from './commands/knowledge.ts';
import { addMigrate } from './commands/migrate.ts';
import { addModel } from './commands/model.ts';
import { addPage } from './commands/page.ts';
import { addRegress } from './commands/regress.ts';
import { addRole } from './commands/role.ts';
import { addSchedule } from './commands/schedule.ts';
import { addSecrets } from './commands/secrets.ts';
import { addSession } from './commands/session.ts';
import { addSource } from './commands/source.ts';
import { addSubmit } from './commands/submit.ts';
import { addTask } from './commands/task.ts';
import { addTenant } from './commands/tenant.ts';
import { addTop } from './commands/top.ts';
import { addTopology } from './commands/topology.ts';
import { addUp } from './commands/up.ts';
import { addWorkflow } from './commands/workflow.ts';
import type { CommandContext } from './context.ts';

/** All commands, in the order in which a newcomer meets them. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('slate')
    .description('Cleanslate: teams of agents in production, and the knowledge they may trust.')
    .version('0.1.0')
    .showSuggestionAfterError()
    .showHelpAfterError('  to do: the same with --help says what there is')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.terminal.out(text.trimEnd()),
      writeErr: (text) => context.terminal.note(text.trimEnd()),
    })
    .addHelpText(
      'after',
      `
Exit codes: 0 done, 1 the task failed (or something is wrong here), 2 bad usage or input, 3 can't connect.
Try it:     slate up --detach && slate submit contract-review --input infra/samples/contract-en.md --watch`,
    );
  for (const add of [
    addDemo,
    addUp,
    addDown,
    addPage,
    addAsk,
    addSubmit,
    addTask,
    addFact,
    addExport,
    addKnowledge,
    addRegress,
    addDlq,
    addSchedule,
    addSession,
    addTenant,
    addRole,
    addWorkflow,
    addModel,
    addSource,
    addTopology,
    addMigrate,
    addSecrets,
    addDoctor,
    addTop,
    addCompletion,
  ])
    add(program, context);
  return program;
}
