import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { findCredentials } from '../stack/credentials.ts';
import { SERVICE_NAMES } from '../stack/service-table.ts';
import { BROKER, DATABASE, findMissing, findStack, type StackFile } from '../stack/stack-file.ts';

/** Longer than the longest pause before a part is restarted. */
const WHOLE_MS = 30_000;
const LOOK_MS = 100;

/**
 * Whether a stack already runs here, which is reported. `ready` only if each of its processes runs: one that has just
 * died is waited for, and if it doesn't come back this throws.
 */
export async function findOther(context: CommandContext): Promise<'none' | 'busy' | 'ready'> {
  const { terminal, home } = context;
  const stack = await findStack(home);
  if (stack === undefined) return 'none';
  if (!stack.running) {
    terminal.note('a stack that ran here is gone without `slate down`; this one takes its place');
    return 'none';
  }
  const { state, supervisor } = stack.file;
  const what = state === 'ready' ? 'runs here already' : `is ${state} here`;
  terminal.note(`a stack ${what} (process ${supervisor.pid}); \`slate down\` stops it`);
  if (state !== 'ready') return 'busy';
  await printReady(context, await waitWhole(context, stack.file));
  return 'ready';
}

/** `stack.json` once nothing is missing. */
export async function waitWhole({ home, terminal, signal }: CommandContext, file: StackFile): Promise<StackFile> {
  const giveUpAt = performance.now() + WHOLE_MS;
  let told = '';
  for (let now = file; ; ) {
    const missing = findMissing(now, SERVICE_NAMES);
    if (missing.length === 0) return now;
    if (performance.now() > giveUpAt) throw incomplete(missing, now);
    const names = missing.join(', ');
    if (names !== told) terminal.note(`not running: ${names}; the stack starts it again …`);
    told = names;
    await pause(signal);
    now = (await findStack(home))?.file ?? now;
  }
}

function incomplete(missing: readonly string[], file: StackFile): Error {
  const code = missing.includes(BROKER)
    ? 'BROKER_UNAVAILABLE'
    : missing.includes(DATABASE)
      ? 'DATABASE_UNAVAILABLE'
      : 'INTERNAL';
  const remedy = `see why in ${file.logFile}; then \`slate down\` and \`slate up --detach\``;
  return inputError({ code, what: `the stack runs without ${missing.join(', ')}`, where: file.logFile, remedy });
}

/** Waits until the next look. Throws the signal's reason on ^C. */
export async function pause(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  signal.throwIfAborted();
}

export async function printReady({ terminal, home }: CommandContext, file: StackFile): Promise<void> {
  const tenants = Object.keys((await findCredentials(home))?.apiKeys ?? {});
  terminal.note(`ready: NATS ${file.natsUrl}   HTTP ${file.gatewayUrl ?? '-'}   tenants ${tenants.join(', ')}`);
  terminal.note(`       page ${file.gatewayUrl ?? '-'}: \`slate page\` prints the link that signs you in`);
  terminal.note(`       log ${file.logFile}`);
  terminal.note(`       passwords and API keys ${home.credentials}; \`slate page --key\` prints that of a tenant`);
}
