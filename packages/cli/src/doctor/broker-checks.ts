import { type Bus, connectBus, diffTopology, findWriteFault, request } from '@cleanslate/bus';
import { type Principal, principalName, STREAMS } from '@cleanslate/contracts';
import { z } from 'zod';
import type { CommandContext } from '../context.ts';
import { findCredentials, principalsOf, rolesOf } from '../stack/credentials.ts';
import { findTarget, openAdminBus } from '../target.ts';
import { attempt, type Check, ok, warn } from './check.ts';
import { judgeClock } from './clock.ts';
import { judgeBroker, refusesPublishes } from './judge-broker.ts';
import { toRevive } from './to-revive.ts';

const BACKLOG_WARNING = 1_000;

export async function checkBroker(context: CommandContext): Promise<readonly Check[]> {
  return await attempt('broker', await toRevive(context, 'NATS_URL'), async () => {
    await using bus = await openAdminBus(context);
    return [
      judgeBroker(bus.raw.info ?? {}),
      ...(await attempt('topology', 'slate topology apply', () => checkTopology(context, bus))),
      ...(await attempt('streams', 'slate topology apply', () => checkStreams(bus))),
      ...(await attempt('backlog', 'slate topology apply', () => checkBacklog(bus))),
      ...(await attempt('permissions', 'restart the stack: `slate down`, `slate up`', () => checkPermissions(context))),
    ];
  });
}

async function checkTopology({ home }: CommandContext, bus: Bus): Promise<Check> {
  const differences = await diffTopology(bus, { roles: rolesOf(await findCredentials(home)) });
  if (differences.length === 0) return ok('topology', 'streams and durables are as the catalogue says');
  const what = [...new Set(differences.map((difference) => difference.what))];
  return warn(
    'topology',
    `${what.length} differ: ${what.slice(0, 4).join(', ')}`,
    'slate topology diff; slate topology apply',
  );
}

/** Does every stream accept messages? One that could not be written doesn't answer publishes, and looks healthy. */
async function checkStreams(bus: Bus): Promise<readonly Check[]> {
  const faults = await Promise.all(STREAMS.map(async ({ name }) => ({ name, fault: await findWriteFault(bus, name) })));
  const refusing = faults.flatMap(({ name, fault }) => (fault === undefined ? [] : [refusesPublishes(name, fault)]));
  return refusing.length > 0 ? refusing : [ok('streams', 'each can be written')];
}

const StreamInfo = z.object({ state: z.object({ messages: z.number() }), ts: z.string().optional() });

async function checkBacklog(bus: Bus): Promise<readonly Check[]> {
  const waiting: string[] = [];
  let most = 0;
  let clock: string | undefined;
  for (const { name, retention } of STREAMS) {
    const bytes = await request(bus, `$JS.API.STREAM.INFO.${name}`, new Uint8Array(), { timeoutMs: 3_000 });
    const info = StreamInfo.parse(JSON.parse(new TextDecoder().decode(bytes)));
    clock = info.ts ?? clock;
    if (retention !== 'workqueue') continue;
    most = Math.max(most, info.state.messages);
    if (info.state.messages > 0) waiting.push(`${name} ${info.state.messages}`);
  }
  const text = waiting.length === 0 ? 'no message waits' : `messages wait: ${waiting.join(', ')}`;
  const backlog =
    most > BACKLOG_WARNING
      ? warn('backlog', text, 'are the services ready? more replicas of the busy role')
      : ok('backlog', text);
  return [backlog, ...(clock === undefined ? [] : [judgeClock('broker clock', Date.parse(clock))])];
}

/** Every credential must be accepted, and refused to listen to everything. */
async function checkPermissions(context: CommandContext): Promise<Check> {
  if (context.config.natsUrl !== undefined && context.config.natsUser !== undefined) {
    const text = 'one login for all services: nothing keeps one from speaking for another';
    return warn('permissions', text, 'give each principal its own user: see nats-authorization.conf of `slate up`');
  }
  const credentials = await findCredentials(context.home);
  const principals = credentials ? principalsOf(credentials).map(({ principal }) => principal) : [];
  const open = await Promise.all(
    principals.map(async (principal) => ((await isFenced(context, principal)) ? [] : [principalName(principal)])),
  );
  const unfenced = open.flat();
  if (unfenced.length === 0)
    return ok('permissions', `${principals.length} credentials, each refused to listen to everything`);
  return warn(
    'permissions',
    `not fenced: ${unfenced.join(', ')}`,
    'include nats-authorization.conf in the broker’s configuration',
  );
}

async function isFenced(context: CommandContext, principal: Principal): Promise<boolean> {
  const target = await findTarget(context, principal);
  await using bus = await connectBus({ ...target, principal, waitOnFirstConnectMs: 3_000 });
  let refused = false;
  bus.onStatus((status) => {
    if (status.type === 'permission-violation') refused = true;
  });
  const subscription = bus.subscribe('>', () => undefined);
  await bus.flush();
  // The status arrives through an iterator, a turn later.
  await new Promise((resolve) => setTimeout(resolve, 20));
  subscription.unsubscribe();
  return refused;
}
