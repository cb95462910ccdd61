import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../context.ts';
import { ensureCredentials } from '../stack/credentials.ts';
import { makeHome } from '../stack/home.ts';
import { toComposeFiles, toKubernetesList, toPlatformSecrets } from '../stack/platform-secrets.ts';
import { withExamples } from './options.ts';

type KubernetesOptions = { readonly databaseUrl: string; readonly namespace: string; readonly tenant: string[] };
type ComposeOptions = { readonly databaseUrl?: string; readonly tenant: string[] };

/** Passwords are made once and kept in the home's credentials.json; these commands only print them in other forms. */
export function addSecrets(program: Command, context: CommandContext): void {
  const secrets = program
    .command('secrets')
    .description('generate the passwords of a platform for Kubernetes or Compose');
  addKubernetes(secrets, context);
  addCompose(secrets, context);
}

function addKubernetes(secrets: Command, context: CommandContext): void {
  const command = secrets
    .command('kubernetes')
    .description('print the Secrets that the manifests in k8s/ refer to. They contain passwords: pipe them')
    .requiredOption(
      '--database-url <url>',
      "an administrator's postgres:// URL that works inside the pods",
      parseDatabaseUrl,
    )
    .option('--namespace <name>', 'where they go', 'cleanslate')
    .option('-t, --tenant <tenant...>', 'create credentials for these tenants too', []);
  withExamples(
    command,
    'slate secrets kubernetes --database-url postgres://postgres:…@timescaledb:5432/cleanslate | kubectl apply -f -',
    'slate secrets kubernetes --database-url postgres://… --tenant acme | kubeseal -o yaml > secrets.yaml',
    'EMBEDDING_API_KEY=… slate secrets kubernetes --database-url postgres://…     # with the key of an embedding server',
    'MODEL_API_KEY=… slate secrets kubernetes --database-url postgres://…         # with that of the model that agents ask',
  );
  command.action(async ({ databaseUrl, namespace, tenant }: KubernetesOptions) => {
    await makeHome(context.home);
    const credentials = await ensureCredentials(context.home, tenant);
    const outside = { databaseUrl, ...keysOf(context) };
    const list = toKubernetesList(toPlatformSecrets(credentials, outside), namespace);
    context.terminal.out(JSON.stringify(list, null, 2));
    context.terminal.note(
      `the passwords are kept in ${context.home.credentials}: guard that file like the cluster's Secrets`,
    );
  });
}

function addCompose(secrets: Command, context: CommandContext): void {
  const command = secrets
    .command('compose')
    .description('write the files that infra/compose.yaml reads into the folder "compose" of the home folder')
    .option(
      '--database-url <url>',
      "an administrator's postgres:// URL; default: of Compose's own TimescaleDB",
      parseDatabaseUrl,
    )
    .option('-t, --tenant <tenant...>', 'create credentials for these tenants too', ['demo']);
  withExamples(command, 'slate secrets compose && docker compose -f infra/compose.yaml up --detach');
  command.action(async ({ databaseUrl, tenant }: ComposeOptions) => {
    const { home, terminal } = context;
    await makeHome(home);
    const credentials = await ensureCredentials(home, tenant);
    // Not stored anywhere else, and so derived to be the same the next time.
    const password = createHash('sha256').update(`postgres ${credentials.nats['admin']}`).digest('hex').slice(0, 32);
    const url = databaseUrl ?? `postgres://postgres:${password}@timescaledb:5432/cleanslate`;
    // Only we may enter the folder; the containers' own user must be able to read what is mounted from it.
    const root = join(home.root, 'compose');
    await mkdir(root, { recursive: true, mode: 0o700 });
    const outside = { databaseUrl: url, ...keysOf(context) };
    for (const [path, text] of toComposeFiles(toPlatformSecrets(credentials, outside))) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text, { mode: 0o644 });
    }
    terminal.out(root);
  });
}

/** Keys of servers outside the platform, from the environment. */
function keysOf({ config }: CommandContext) {
  return { embeddingApiKey: config.embedding['EMBEDDING_API_KEY'], modelApiKey: config.model['MODEL_API_KEY'] };
}

function parseDatabaseUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) && new URL(text).password !== '') return text;
  throw new InvalidArgumentError('write it as postgres://user:password@host:5432/database.');
}
