import { addTenants, findPendingMigrations, migrate, putApiKeyHash } from '@cleanslate/store';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { reach } from '../reach-database.ts';
import { apiKeyHashes, databasePasswords, findCredentials } from '../stack/credentials.ts';
import { findStack } from '../stack/stack-file.ts';
import { withExamples } from './options.ts';

type MigrateOptions = { readonly tenant: string[]; readonly dryRun?: boolean; readonly json?: boolean };

export function addMigrate(program: Command, context: CommandContext): void {
  const command = program
    .command('migrate')
    .description('migrate the database to this version; safe to repeat, and to run several at once')
    .option('-t, --tenant <tenant...>', 'register these tenants too', [])
    .option('--dry-run', 'only show what is missing')
    .option('--json', 'print JSON for machines');
  withExamples(
    command,
    'DATABASE_URL=postgres://postgres:…@db/cleanslate slate migrate --tenant acme',
    'slate migrate --dry-run',
  );
  command.action(async ({ tenant, dryRun, json }: MigrateOptions) => {
    const { out } = context.terminal;
    const adminUrl = await findAdminUrl(context);
    if (dryRun) {
      const pending = await reach(findPendingMigrations(adminUrl));
      return out(json ? JSON.stringify({ pending }) : pending.length === 0 ? 'nothing is missing' : pending.join('\n'));
    }
    const credentials = await findCredentials(context.home);
    const report = await reach(
      migrate({ adminUrl, ...(credentials ? { passwords: databasePasswords(credentials) } : {}) }),
    );
    // Tenants with a key here too: without them a new platform would know nobody.
    const keyHashes = credentials ? apiKeyHashes(credentials) : new Map<string, Buffer>();
    const tenants = [...new Set([...tenant, ...keyHashes.keys()])];
    await addTenants(adminUrl, tenants);
    for (const [tenantId, hash] of keyHashes) await putApiKeyHash(adminUrl, tenantId, hash);
    if (json) return out(JSON.stringify({ ...report, tenants }));
    for (const name of report.applied) out(`applied  ${name}`);
    if (report.applied.length === 0) out(`nothing to do: the database is at ${report.current}`);
    for (const name of tenants) out(`tenant   ${name}`);
  });
}

/** An administrator's URL: DATABASE_URL, or that of the stack that runs here. */
export async function findAdminUrl({ config, home }: CommandContext): Promise<string> {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const stack = await findStack(home);
  if (stack?.running) return stack.file.databaseUrl;
  throw inputError({
    code: 'DATABASE_UNAVAILABLE',
    what: 'no database is named and no stack runs here',
    where: 'DATABASE_URL',
    remedy: 'set DATABASE_URL to an administrator’s postgres:// URL, or `slate up --detach`',
  });
}
