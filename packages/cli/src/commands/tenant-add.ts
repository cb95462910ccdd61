import { type Principal, principalName } from '@cleanslate/contracts';
import { registerTenant, rotateApiKey } from '@cleanslate/store';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { reach } from '../reach-database.ts';
import { describeLeft, renewBrokerUsers } from '../stack/broker-users.ts';
import { addTenantCredential, type Credentials, removeCredential } from '../stack/credentials.ts';
import { parseDuration } from '../view/duration.ts';
import { findAdminUrl } from './migrate.ts';
import { withExamples } from './options.ts';
import { awaitLogin, requireId } from './principal.ts';

export function addTenantAdd(tenant: Command, context: CommandContext): void {
  const command = tenant
    .command('add <tenant>')
    .description('register a tenant, with an API key (shown only once) and a login at the broker')
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate tenant add acme', 'slate tenant add acme --json');
  command.action(async (tenantId: string, { json }: { readonly json?: boolean }) => {
    requireId(tenantId, 'tenant');
    const { key } = await reach(registerTenant(await findAdminUrl(context), tenantId));
    if (key === undefined) {
      throw inputError({
        what: `tenant "${tenantId}" is there already`,
        where: '<tenant>',
        remedy: `\`slate tenant rotate ${tenantId}\` makes new credentials; \`slate tenant list\` shows all`,
      });
    }
    const credentials = await addTenantCredential(context.home, tenantId, key.key);
    await tell(context, { tenantId, credentials, keyId: key.keyId, json });
  });
}

type RotateOptions = { readonly keepOld: string; readonly json?: boolean };

export function addTenantRotate(tenant: Command, context: CommandContext): void {
  const command = tenant
    .command('rotate <tenant>')
    .description('issue a new API key and a new broker password; its connections must log in again')
    .option('--keep-old <duration>', 'how long the old API keys stay valid (90s, 1h, 7d)', '0s')
    .option('--json', 'print JSON for machines');
  withExamples(command, 'slate tenant rotate acme', 'slate tenant rotate acme --keep-old 1h');
  command.action(async (tenantId: string, { keepOld, json }: RotateOptions) => {
    requireId(tenantId, 'tenant');
    const keepOldMs = parseDuration(keepOld, '--keep-old');
    const { key, keyId } = await reach(rotateApiKey(await findAdminUrl(context), tenantId, keepOldMs));
    await removeCredential(context.home, { kind: 'tenant', tenantId });
    const credentials = await addTenantCredential(context.home, tenantId, key);
    await tell(context, { tenantId, credentials, keyId, json });
  });
}

type Told = {
  readonly tenantId: string;
  readonly credentials: Credentials;
  readonly keyId: string;
  readonly json: boolean | undefined;
};

/** The only time that secrets are shown; afterwards they are only in the credentials file of this home. */
async function tell(context: CommandContext, { tenantId, credentials, keyId, json }: Told): Promise<void> {
  const { out, note } = context.terminal;
  const principal: Principal = { kind: 'tenant', tenantId };
  const users = await renewBrokerUsers(context, credentials);
  await awaitLogin(context, principal, users);
  const user = principalName(principal);
  const [apiKey, password] = [credentials.apiKeys[tenantId], credentials.nats[user]];
  if (json)
    return out(
      JSON.stringify({ tenant: tenantId, keyId, apiKey, natsUser: user, natsPassword: password, broker: users }),
    );
  out(`tenant         ${tenantId}`);
  out(`API key        ${apiKey}`);
  out(`NATS user      ${user}`);
  out(`NATS password  ${password}`);
  note(`kept in ${context.home.credentials}; the database has the key's hash only`);
  const left = describeLeft(context.home, users);
  if (left !== undefined) note(left);
}
