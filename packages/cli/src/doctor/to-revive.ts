import type { CommandContext } from '../context.ts';
import { findStack } from '../stack/stack-file.ts';

/**
 * What to do about a broker or a database that doesn't answer: a variable helps only those who set it, and `slate up`
 * leaves a running stack as it is.
 */
export async function toRevive(
  { config, home }: CommandContext,
  variable: 'NATS_URL' | 'DATABASE_URL',
): Promise<string> {
  const given = variable === 'NATS_URL' ? config.natsUrl : config.databaseUrl;
  if (given !== undefined)
    return variable === 'NATS_URL' ? 'check NATS_URL, NATS_USER, NATS_PASSWORD' : 'check DATABASE_URL';
  const stack = await findStack(home).catch(() => undefined);
  if (stack?.running)
    return 'the stack starts it again by itself; if that fails: `slate down`, then `slate up --detach`';
  return `start it: \`slate up --detach\`; or set ${variable}`;
}
