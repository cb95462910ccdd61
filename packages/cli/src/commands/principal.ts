import { connectBus } from '@cleanslate/bus';
import { type Principal, TOKEN_PATTERN } from '@cleanslate/contracts';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import type { UsersInForce } from '../stack/broker-users.ts';
import { findTarget } from '../target.ts';

/** The id of a new tenant or role. Throws `INVALID_INPUT` saying what it may look like. */
export function requireId(id: string, what: 'tenant' | 'role'): string {
  if (TOKEN_PATTERN.test(id)) return id;
  throw inputError({
    what: `"${id.slice(0, 80)}" can't be the id of a ${what}`,
    where: `<${what}>`,
    remedy: 'use lower-case letters, digits, "_" and "-", at most 63, the first a letter or digit',
  });
}

const IN_FORCE_MS = 10_000;

/** Resolves once the broker accepts the principal's present password. */
export async function awaitLogin(context: CommandContext, principal: Principal, users: UsersInForce): Promise<void> {
  if (users !== 'reloaded') return;
  const target = await findTarget(context, principal);
  const giveUpAt = performance.now() + IN_FORCE_MS;
  for (;;) {
    try {
      const bus = await connectBus({ ...target, principal, waitOnFirstConnectMs: 2_000 });
      return await bus.close();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
