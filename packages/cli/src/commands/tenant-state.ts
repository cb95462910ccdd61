import { purgeTenant } from '@cleanslate/bus';
import {
  countTenantRows,
  eraseTenant,
  listTenants,
  setTenantState,
  type TenantRows,
  type TenantState,
  type TenantSummary,
} from '@cleanslate/store';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { reach } from '../reach-database.ts';
import { describeLeft, renewBrokerUsers } from '../stack/broker-users.ts';
import { removeCredential } from '../stack/credentials.ts';
import { openAdminBus } from '../target.ts';
import { toTable } from '../view/table.ts';
import { findAdminUrl } from './migrate.ts';
import { withExamples } from './options.ts';
import { requireId } from './principal.ts';

type Json = { readonly json?: boolean };

export function addTenantState(tenant: Command, context: CommandContext): void {
  addSwitch(
    tenant,
    context,
    'suspend',
    'suspended',
    'start nothing new for a tenant: submits, retries, forks, replays, schedules; what runs goes on',
  );
  addSwitch(
    tenant,
    context,
    'resume',
    'active',
    'let a suspended tenant start work again; missed runs of schedules follow their policy',
  );
}

function addSwitch(
  tenant: Command,
  context: CommandContext,
  verb: 'suspend' | 'resume',
  state: TenantState,
  description: string,
): void {
  const command = tenant
    .command(`${verb} <tenant>`)
    .description(description)
    .option('--json', 'print JSON for machines');
  const hold =
    verb === 'suspend' ? ['slate tenant limits acme --max-running 0     # holds back what is under way, too'] : [];
  withExamples(command, `slate tenant ${verb} acme`, ...hold);
  command.action(async (tenantId: string, { json }: Json) => {
    requireId(tenantId, 'tenant');
    await reach(setTenantState(await findAdminUrl(context), tenantId, state));
    context.terminal.out(json ? JSON.stringify({ tenant: tenantId, state }) : `${tenantId} is ${state}`);
  });
}

export function addTenantList(tenant: Command, context: CommandContext): void {
  const command = tenant
    .command('list')
    .description('list all tenants, with their unfinished tasks and API keys (by id, never the keys)')
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate tenant list');
  command.action(async ({ json }: Json) => {
    const { out } = context.terminal;
    const tenants = await reach(listTenants(await findAdminUrl(context)));
    if (json) return out(JSON.stringify({ tenants }));
    const rows = tenants.map((each) => [each.tenantId, each.state, String(each.unfinishedTasks), keysOf(each)]);
    for (const line of toTable(['TENANT', 'STATE', 'UNFINISHED', 'API KEYS'], rows)) out(line);
  });
}

function keysOf({ apiKeys }: TenantSummary): string {
  const good = apiKeys.filter(({ revokedAt }) => revokedAt === null || Date.parse(revokedAt) > Date.now());
  return good.map(({ keyId, revokedAt }) => (revokedAt === null ? keyId : `${keyId} (until ${revokedAt})`)).join(', ');
}

export function addTenantDelete(tenant: Command, context: CommandContext): void {
  const command = tenant
    .command('delete <tenant>')
    .description(
      'delete a suspended tenant and everything it owns: tasks, events, dead letters, facts and their history',
    )
    .option('--yes', 'really delete; without it, only show what would go')
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate tenant suspend acme && slate tenant delete acme', 'slate tenant delete acme --yes');
  command.action(async (tenantId: string, { yes, json }: Json & { readonly yes?: boolean }) => {
    requireId(tenantId, 'tenant');
    const { out } = context.terminal;
    const adminUrl = await findAdminUrl(context);
    if (!yes) {
      const rows = await reach(countTenantRows(adminUrl, tenantId));
      show(context, 'would remove', rows, json);
      return context.terminal.note(
        'nothing was removed; with --yes it is, and that can not be undone: back up what you need',
      );
    }
    // The broker must be there first: what is gone from the ledger can't be asked for again.
    await using bus = await openAdminBus(context);
    const rows = await reach(eraseTenant(adminUrl, tenantId));
    const messages = await purgeTenant(bus, tenantId);
    const users = await renewBrokerUsers(context, await removeCredential(context.home, { kind: 'tenant', tenantId }));
    show(context, 'removed', rows, json, { messages });
    const left = describeLeft(context.home, users);
    if (left !== undefined) context.terminal.note(left);
    if (!json) out(`${messages} messages, its API keys and its login at the broker are gone as well`);
  });
}

function show(
  { terminal }: CommandContext,
  what: string,
  rows: TenantRows,
  json: boolean | undefined,
  more = {},
): void {
  if (json) return terminal.out(JSON.stringify({ [what.replace(' ', '_')]: rows, ...more }));
  for (const { table, rows: count } of rows) terminal.out(`${what}  ${String(count).padStart(8)}  ${table}`);
}
