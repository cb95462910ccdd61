import { readToolchain } from '@cleanslate/infra';
import type { CommandContext } from '../context.ts';
import { SERVICE_NAMES } from '../stack/service-table.ts';
import { findMissing, findStack } from '../stack/stack-file.ts';
import { attempt, type Check, fail, ok, warn } from './check.ts';

export async function checkLocal(context: CommandContext): Promise<readonly Check[]> {
  return [
    checkNode(),
    ...(await attempt('set-up', 'npm run setup', async () => {
      const { nats, demoPostgres } = readToolchain();
      return ok(
        'set-up',
        `nats-server: ${nats?.kind ?? 'none'} (${nats?.why ?? '-'}); database: ${demoPostgres?.kind ?? 'none'}`,
      );
    })),
    ...(await attempt('stack', 'slate up --detach', () => checkStack(context))),
  ];
}

function checkNode(): Check {
  const { node } = process.versions;
  return Number(node.split('.')[0]) >= 24
    ? ok('node', node)
    : fail('node', `${node}; 24 or later is needed`, 'run it as `npx slate`, which brings its own');
}

async function checkStack({ home, config }: CommandContext): Promise<readonly Check[]> {
  const stack = await findStack(home);
  if (stack === undefined) {
    if (config.natsUrl !== undefined) return [];
    return [warn('stack', 'none runs here', 'slate up --detach')];
  }
  if (!stack.running) return [warn('stack', `left over from ${stack.file.startedAt}`, 'slate down; slate up --detach')];
  const services = await Promise.all(
    Object.entries(stack.file.health).map(async ([name, url]) => await checkService(name, url)),
  );
  const missing = stack.file.state === 'ready' ? findMissing(stack.file, SERVICE_NAMES) : [];
  const runs =
    missing.length === 0
      ? ok('stack', `runs since ${stack.file.startedAt} in ${home.root}`)
      : fail(
          'stack',
          `runs without ${missing.join(', ')}`,
          'it starts them again by itself; if that fails: `slate down`, then `slate up --detach`',
        );
  return [runs, ...services];
}

async function checkService(name: string, url: string): Promise<Check> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
    if (response.ok) return ok(name, 'ready');
    return fail(name, `not ready: ${(await response.text()).trim().slice(0, 200)}`, 'see its lines in the log');
  } catch {
    return fail(name, `does not answer on ${url}`, 'see its lines in the log; the stack starts it again when it ends');
  }
}
