import { type Bus, connectBus } from '@cleanslate/bus';
import { type Client, connect } from '@cleanslate/client';
import { isAppError, type Principal, principalName, TOKEN_PATTERN } from '@cleanslate/contracts';
import type { CommandContext } from './context.ts';
import { inputError } from './input-error.ts';
import { type Credentials, findCredentials, tenantsOf } from './stack/credentials.ts';
import { findStack } from './stack/stack-file.ts';

/** A person is waiting: long enough for a machine that is busy, not for one that is off. */
const CONNECT_MS = 5_000;
const ANSWER_MS = 15_000;

export type Target = { readonly servers: string; readonly user: string; readonly password: string };

/**
 * Connects as the tenant. Throws before anything is sent: unknown tenant (2), no stack, no
 * answer, credentials refused (3).
 */
export async function openClient(context: CommandContext, tenant: string): Promise<Client> {
  if (!TOKEN_PATTERN.test(tenant)) {
    throw inputError({
      code: 'UNKNOWN_TENANT',
      what: `"${tenant}" can't be a tenant's name`,
      where: '--tenant',
      remedy: 'use lower-case letters, digits, "_" and "-", at most 63',
    });
  }
  const target = await findTarget(context, { kind: 'tenant', tenantId: tenant });
  const connecting = connect({
    ...target,
    tenant,
    name: 'cli',
    connectTimeoutMs: CONNECT_MS,
    requestTimeoutMs: ANSWER_MS,
  });
  return await reached(context, connecting);
}

/** Connects as the administrator of streams and durables. */
export async function openAdminBus(context: CommandContext): Promise<Bus> {
  const principal: Principal = { kind: 'admin' };
  const target = await findTarget(context, principal);
  return await reached(context, connectBus({ ...target, principal, waitOnFirstConnectMs: CONNECT_MS }));
}

/** A user of the local stack has no NATS_URL to check. */
async function reached<T>({ config, home }: CommandContext, connecting: Promise<T>): Promise<T> {
  try {
    return await connecting;
  } catch (error) {
    if (config.natsUrl !== undefined || !isAppError(error) || error.code !== 'BROKER_UNAVAILABLE') throw error;
    throw inputError(
      {
        code: 'BROKER_UNAVAILABLE',
        what: 'the broker of the stack that runs here does not answer',
        where: home.stackFile,
        remedy: 'try again in a moment, the stack starts it again; else `slate down`, then `slate up --detach`',
      },
      error,
    );
  }
}

/**
 * The address and login of a principal: from the environment if NATS_URL is set, otherwise of the stack that runs here.
 */
export async function findTarget(context: CommandContext, principal: Principal): Promise<Target> {
  const { config, home } = context;
  const user = principalName(principal);
  const credentials = await findCredentials(home);
  if (config.natsUrl !== undefined) {
    const password = config.natsPassword ?? credentials?.nats[user] ?? '';
    return { servers: config.natsUrl, user: config.natsUser ?? user, password };
  }
  const stack = await findStack(home);
  if (stack === undefined || !stack.running || stack.file.state !== 'ready') {
    const gone = stack?.running ? `the stack is ${stack.file.state}` : 'the stack that ran here is gone';
    throw inputError({
      code: 'BROKER_UNAVAILABLE',
      what: stack ? gone : 'no stack runs here',
      where: home.stackFile,
      remedy: 'start one with `slate up --detach`, or set NATS_URL, NATS_USER and NATS_PASSWORD',
    });
  }
  const password = credentials?.nats[user];
  if (password === undefined) throw unknownPrincipal(principal, credentials, home.credentials);
  return { servers: stack.file.natsUrl, user, password };
}

function unknownPrincipal(principal: Principal, credentials: Credentials | undefined, file: string): Error {
  const known = credentials ? tenantsOf(credentials).join(', ') : 'none';
  return principal.kind === 'tenant'
    ? inputError({
        code: 'UNKNOWN_TENANT',
        what: `tenant "${principal.tenantId}" is unknown here; there is ${known}`,
        where: '--tenant',
        remedy: `name one of those, or \`slate tenant add ${principal.tenantId}\``,
      })
    : inputError({
        code: 'CONFIGURATION',
        what: `no password for ${principalName(principal)}`,
        where: file,
        remedy: 'restart the stack with `slate up`: it adds what is missing',
      });
}
