import { applyDurable, deleteDurable } from '@cleanslate/bus';
import { BUILT_IN_ROLES, type Principal, principalName, workConsumer } from '@cleanslate/contracts';
import { listRoles, addRole as registerRole, removeRole } from '@cleanslate/store';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { reach } from '../reach-database.ts';
import { describeLeft, renewBrokerUsers } from '../stack/broker-users.ts';
import { addRoleCredential, removeCredential } from '../stack/credentials.ts';
import { requireFreeName } from '../stack/platform-secrets.ts';
import { findTarget, openAdminBus } from '../target.ts';
import { toTable } from '../view/table.ts';
import { findAdminUrl } from './migrate.ts';
import { withExamples } from './options.ts';
import { awaitLogin, requireId } from './principal.ts';

type Json = { readonly json?: boolean };

export function addRole(program: Command, context: CommandContext): void {
  const role = program.command('role').description('kinds of workers: the built-in ones and your own');
  addRoleAdd(role, context);
  addRoleList(role, context);
  addRoleRemove(role, context);
}

function addRoleAdd(role: Command, context: CommandContext): void {
  const command = role
    .command('add <role>')
    .description(
      'let workers of your own work here: a login at the broker and a queue. Run again, it shows the login again',
    )
    .option('--env', 'print only the environment of a worker, for a .env file')
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate role add poet', 'slate role add poet --env > .env', 'node --env-file=.env worker.ts');
  command.action(async (name: string, { env, json }: Json & { readonly env?: boolean }) => {
    const { out, note } = context.terminal;
    requireFreeName(requireId(name, 'role'));
    const added = await reach(registerRole(await findAdminUrl(context), name));
    const credentials = await addRoleCredential(context.home, name);
    const users = await renewBrokerUsers(context, credentials);
    const principal: Principal = { kind: 'worker', role: name };
    await awaitLogin(context, principal, users);
    await using bus = await openAdminBus(context);
    await applyDurable(bus, workConsumer(name));
    const { servers } = await findTarget(context, principal);
    const user = principalName(principal);
    const password = credentials.nats[user];
    if (json)
      return out(
        JSON.stringify({ role: name, added, natsUrl: servers, natsUser: user, natsPassword: password, broker: users }),
      );
    if (!env) note(`role ${name} ${added ? 'added' : 'is there'}. A worker of it needs:`);
    out(`NATS_URL=${servers}\nNATS_USER=${user}\nNATS_PASSWORD=${password}`);
    const left = describeLeft(context.home, users);
    if (left !== undefined) note(left);
  });
}

function addRoleList(role: Command, context: CommandContext): void {
  const command = role
    .command('list')
    .description('list all roles, with their workers, what waits for them, and the workflows they registered')
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate role list');
  command.action(async ({ json }: Json) => {
    const { out } = context.terminal;
    const roles = await reach(listRoles(await findAdminUrl(context)));
    if (json) return out(JSON.stringify({ roles }));
    const rows = roles.map((each) => [
      each.role,
      each.builtIn ? 'built in' : 'added',
      String(each.workers),
      `${each.freeSlots}/${each.slots}`,
      String(each.waitingSteps),
      each.workflows.join(', '),
    ]);
    for (const line of toTable(['ROLE', 'KIND', 'WORKERS', 'FREE SLOTS', 'STEPS', 'WORKFLOWS'], rows)) out(line);
  });
}

function addRoleRemove(role: Command, context: CommandContext): void {
  const command = role
    .command('remove <role>')
    .description(
      'remove a role’s login, its queue and the workflows its workers registered; refused while steps wait for it',
    )
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate role remove poet');
  command.action(async (name: string, { json }: Json) => {
    const { out, note } = context.terminal;
    requireId(name, 'role');
    if (BUILT_IN_ROLES.some((builtIn) => builtIn === name))
      throw refused(`"${name}" is built in`, 'name a role that was added: `slate role list`');
    await using bus = await openAdminBus(context);
    const removed = await reach(removeRole(await findAdminUrl(context), name));
    if (!removed.known) throw refused(`there is no role "${name}"`, 'see `slate role list`');
    if (removed.waitingSteps > 0) {
      const what = `${removed.waitingSteps} steps wait for workers of role "${name}", or run there`;
      throw refused(what, 'let them finish, or cancel their tasks');
    }
    const { stream, durable } = workConsumer(name);
    await deleteDurable(bus, stream, durable);
    const credentials = await removeCredential(context.home, { kind: 'worker', role: name });
    const left = describeLeft(context.home, await renewBrokerUsers(context, credentials));
    if (json) return out(JSON.stringify({ role: name, removed: true, workflows: removed.workflows }));
    out(`role ${name} removed`);
    for (const workflow of removed.workflows) out(`workflow ${workflow} removed with it`);
    if (left !== undefined) note(left);
  });
}

function refused(what: string, remedy: string): Error {
  return inputError({ what, where: '<role>', remedy });
}
