import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { findCredentials } from '../stack/credentials.ts';
import { findStack } from '../stack/stack-file.ts';
import { type CommonOptions, withCommonOptions, withExamples } from './options.ts';

type PageOptions = CommonOptions & { readonly key?: boolean };

export function addPage(program: Command, context: CommandContext): void {
  const command = program
    .command('page')
    .description('print a link that opens the page of this stack signed in, or only the API key')
    .option('--key', 'print only the API key of the tenant');
  withCommonOptions(command, context);
  withExamples(
    command,
    'slate page',
    'slate page --tenant acme',
    `curl -H "authorization: Bearer $(slate page --key)" localhost:8080/v1/tasks`,
  );
  command.action(async ({ tenant, json, key: keyOnly }: PageOptions) => {
    const { out, note } = context.terminal;
    const apiKey = (await findCredentials(context.home))?.apiKeys[tenant];
    if (apiKey === undefined) {
      throw inputError({
        code: 'UNKNOWN_TENANT',
        what: `this machine has no API key of tenant "${tenant}"`,
        where: context.home.credentials,
        remedy: `start a stack with \`slate up --tenant ${tenant}\`, or get a key with \`slate tenant rotate ${tenant}\``,
      });
    }
    const stack = await findStack(context.home);
    const url = stack?.running ? stack.file.gatewayUrl : undefined;
    if (keyOnly) return out(json ? JSON.stringify({ tenant, apiKey }) : apiKey);
    if (url === undefined) {
      throw inputError({
        code: 'BROKER_UNAVAILABLE',
        what: 'no stack runs here',
        where: context.home.stackFile,
        remedy: 'start one with `slate up --detach`',
      });
    }
    // After `#` it is sent to no server and appears in no log.
    const link = `${url}/login#${encodeURIComponent(apiKey)}`;
    if (json) return out(JSON.stringify({ tenant, url, link, apiKey }));
    out(link);
    note('  whoever has this link is signed in as the tenant');
  });
}
