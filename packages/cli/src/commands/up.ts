import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { toSourcesEnvironment } from '../input/sources-file.ts';
import { lockHome } from '../stack/home-lock.ts';
import { startStack } from '../stack/start-stack.ts';
import { withExamples } from './options.ts';
import { type UpOptions, upDetached } from './up-detached.ts';
import { findOther, printReady } from './up-other.ts';

/** Used if nobody listens there, so that a stock client finds them at once. */
const PORTS = { nats: 4222, gateway: 8080 };

export function addUp(program: Command, context: CommandContext): void {
  const command = program
    .command('up')
    .description('run the whole stack on this machine: broker, database, eight services, one log')
    .option('-d, --detach', 'return once the stack is ready, and leave it running')
    .option('-t, --tenant <tenant...>', 'tenants to create if they are missing', [context.config.tenant])
    .option('--verbose', 'log at debug level')
    .addOption(new Option('--quiet').hideHelp())
    .option('--json', 'print stack.json once it is ready (with --detach)');
  withExamples(command, 'slate up', 'slate up --detach', 'slate up --tenant acme --tenant globex');
  command.addHelpText(
    'after',
    `
Environment:
  CLEANSLATE_HOME  where its state lives (default .cleanslate in the checkout)
  NATS_URL         a broker that is already running. Its login is NATS_USER / NATS_PASSWORD for all services; without them
                   each has its own from credentials.json, and the broker must include nats-authorization.conf
  DATABASE_URL     a PostgreSQL that is already running, as a user who may create roles (default: an embedded one)
  SOURCES_FILE     what agents can ask besides the knowledge base (docs/how-to/sources.md)`,
  );
  command.action((options: UpOptions) => (options.detach ? upDetached(context, options) : up(context, options)));
}

async function up(context: CommandContext, options: UpOptions): Promise<void> {
  const { home, terminal, signal } = context;
  // `slate up --detach` has looked already, and reports it itself.
  if (!options.quiet && (await findOther(context)) !== 'none') return;
  // Before anything is started: a faulty file is reported here, not by a retriever that doesn't come up.
  const sources = await toSourcesEnvironment(context.env);
  const lock = await lockHome(home);
  if (!('release' in lock)) {
    return terminal.note(`a stack is starting here (process ${lock.ownerPid}); \`slate down\` stops it`);
  }
  signal.addEventListener('abort', () => terminal.note('stopping …'), { once: true });
  const stack = await startStack({
    home,
    config: context.config,
    tenants: options.tenant,
    lock,
    ports: PORTS,
    logLevel: options.verbose ? 'debug' : 'info',
    sources,
    say: (line) => terminal.note(line),
    signal,
  });
  try {
    if (!options.quiet) await printReady(context, stack.describe());
    if (!options.quiet) terminal.note('^C stops it');
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    await stack.stop();
    terminal.note('stopped');
  }
}
