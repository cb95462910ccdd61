import { type LimitChange, setTenantLimits } from '@cleanslate/store';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../context.ts';
import { reach } from '../reach-database.ts';
import { findAdminUrl } from './migrate.ts';
import { withExamples } from './options.ts';
import { addTenantAdd, addTenantRotate } from './tenant-add.ts';
import { addTenantDelete, addTenantList, addTenantState } from './tenant-state.ts';

/** (The option parser takes null for a missing value.) */
type Limit = number | 'none';

type LimitOptions = {
  readonly maxRunning?: Limit;
  readonly workflow: Readonly<Record<string, Limit>>;
  readonly json?: boolean;
};

export function addTenant(program: Command, context: CommandContext): void {
  const tenant = program
    .command('tenant')
    .description('tenants: their keys, their limits, suspending and deleting them');
  addTenantAdd(tenant, context);
  addTenantList(tenant, context);
  addTenantRotate(tenant, context);
  addTenantState(tenant, context);
  addTenantDelete(tenant, context);
  addLimits(tenant, context);
}

function addLimits(tenant: Command, context: CommandContext): void {
  const command = tenant
    .command('limits <tenant>')
    .description('limit how many steps run at once; steps over a limit wait. Without options: show the limits')
    .option('--max-running <count>', 'steps of the tenant; "none" removes the limit', parseLimit)
    .option('--workflow <name=count>', 'steps of one workflow; repeatable', addWorkflow, {})
    .option('--json', 'print JSON for machines');
  withExamples(
    command,
    'slate tenant limits acme --max-running 200',
    'slate tenant limits acme --workflow contract-review=20 --workflow import=none',
    'slate tenant limits acme --json',
  );
  command.action(async (tenantId: string, { maxRunning, workflow, json }: LimitOptions) => {
    const { out } = context.terminal;
    const change: LimitChange = {
      ...(maxRunning === undefined ? {} : { maxRunning: toLimit(maxRunning) }),
      workflows: Object.fromEntries(Object.entries(workflow).map(([name, limit]) => [name, toLimit(limit)])),
    };
    const limits = await reach(setTenantLimits(await findAdminUrl(context), tenantId, change));
    if (json) return out(JSON.stringify({ tenant: tenantId, ...limits }));
    out(`${tenantId}  ${limits.maxRunning === null ? 'no limit' : `${limits.maxRunning} steps at once`}`);
    for (const [name, limit] of Object.entries(limits.workflows)) out(`  ${name}  ${limit} steps at once`);
  });
}

function toLimit(limit: Limit): number | null {
  return limit === 'none' ? null : limit;
}

function parseLimit(text: string): Limit {
  if (text === 'none') return text;
  if (/^[0-9]{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('write a whole number, or "none".');
}

function addWorkflow(text: string, before: Readonly<Record<string, Limit>>): Record<string, Limit> {
  const [name = '', limit, ...rest] = text.split('=');
  if (name === '' || limit === undefined || rest.length > 0)
    throw new InvalidArgumentError('write WORKFLOW=COUNT, as contract-review=20.');
  return { ...before, [name]: parseLimit(limit) };
}
