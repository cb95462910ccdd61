import { createHash } from 'node:crypto';
import { toNatsServerConfig } from '@cleanslate/bus';
import { BUILT_IN_ROLES, type Principal, principalName } from '@cleanslate/contracts';
import { DATABASE_ROLES, type DatabaseRole } from '@cleanslate/store';
import { inputError } from '../input-error.ts';
import type { Credentials } from './credentials.ts';
import { embeds, SERVICES } from './service-table.ts';

/** The secrets of one process, by the name under which Kubernetes and Compose hand them out. */
export type PlatformSecret = { readonly name: string; readonly data: Readonly<Record<string, string>> };

/** Secrets for servers outside the platform. */
export type Outside = {
  /** An administrator's; the services' URLs differ only in user and password. */
  readonly databaseUrl: string;
  /** Of the embedding server, if it needs one. */
  readonly embeddingApiKey: string | undefined;
  /** Of the model server that workers ask, likewise. */
  readonly modelApiKey: string | undefined;
};

/** Each service gets its own credentials and nothing else. */
export function toPlatformSecrets(credentials: Credentials, outside: Outside): readonly PlatformSecret[] {
  const { databaseUrl, embeddingApiKey, modelApiKey } = outside;
  const forWorkers = modelApiKey ? { 'model-api-key': modelApiKey } : {};
  const { nats, database, apiKeys } = credentials;
  const urlOf = (role: DatabaseRole) => {
    const url = new URL(databaseUrl);
    url.username = role;
    url.password = database[role] ?? '';
    return url.href;
  };
  const services = SERVICES.map(({ name, principal, databaseRole }): PlatformSecret => {
    const password = nats[principalName(principal)] ?? '';
    const withDatabase = databaseRole === undefined ? {} : { 'database-url': urlOf(databaseRole) };
    // Seals sessions: always the same, and unknown to anyone who doesn't know the gateway's password.
    const more = name === 'gateway' ? { 'session-secret': sha256(`session secret of ${password}`) } : {};
    const withKey = embeddingApiKey && embeds(name) ? { 'embedding-api-key': embeddingApiKey } : {};
    const withModel = principal.kind === 'worker' ? forWorkers : {};
    const data = { 'nats-password': password, ...withDatabase, ...withKey, ...withModel, ...more };
    return { name: `cleanslate-${name}`, data };
  });
  const workers = Object.keys(nats).filter((user) => user.startsWith('worker-'));
  const own = workers.filter((user) => !SERVICES.some(({ principal }) => principalName(principal) === user));
  for (const user of own) requireFreeName(user.slice('worker-'.length));
  // Names of the roles, for their consumers; of the passwords only its own.
  const topology = { admin: nats['admin'] ?? '', ...names(workers) };
  const roles = Object.fromEntries(DATABASE_ROLES.map((role) => [role, database[role] ?? '']));
  return [
    ...services,
    ...own.map((user) => ({
      name: `cleanslate-${user.slice('worker-'.length)}`,
      data: { 'nats-password': nats[user] ?? '', ...forWorkers },
    })),
    {
      name: 'cleanslate-migrate',
      data: {
        'database-url': databaseUrl,
        // The migration registers tenants with their first key, of which it needs only the hash.
        'credentials.json': JSON.stringify({ nats: {}, database: roles, apiKeys: {}, apiKeyHashes: hashes(apiKeys) }),
      },
    },
    {
      name: 'cleanslate-topology',
      data: { 'credentials.json': JSON.stringify({ nats: topology, database: {}, apiKeys: {} }) },
    },
    { name: 'nats-auth', data: { 'auth.conf': toNatsAuthorization(nats) } },
    { name: 'timescaledb', data: { password: decodeURIComponent(new URL(databaseUrl).password) } },
  ];
}

/**
 * Secrets and Deployments are named after the role: a second `gateway` would replace the first. Throws `INVALID_INPUT`.
 */
export function requireFreeName(role: string): void {
  const platform = SERVICES.filter(({ principal }) => principal.kind !== 'worker').map(({ name }) => name);
  if (![...platform, 'migrate', 'topology'].includes(role)) return;
  throw inputError({
    what: `"${role}" is a part of the platform, whose Secret a role of that name would overwrite`,
    where: '<role>',
    remedy: `name the role otherwise; one that is there already: \`slate role remove ${role}\``,
  });
}

/** Placeholder in a credentials file for passwords that its reader must not have. */
function names(of: readonly string[]): Record<string, string> {
  return Object.fromEntries(of.map((name) => [name, '']));
}

export function toKubernetesList(secrets: readonly PlatformSecret[], namespace: string) {
  const items = secrets.map(({ name, data }) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name, namespace },
    stringData: data,
  }));
  return { apiVersion: 'v1', kind: 'List', items };
}

/** Names under which a service reads them from its environment; without one it is a file. */
const VARIABLES: Readonly<Record<string, string>> = {
  'nats-password': 'NATS_PASSWORD',
  'database-url': 'DATABASE_URL',
  'session-secret': 'SESSION_SECRET',
  'embedding-api-key': 'EMBEDDING_API_KEY',
  'model-api-key': 'MODEL_API_KEY',
  password: 'POSTGRES_PASSWORD',
};

/** Files for Compose by their path: an environment for each service, and beside it what is mounted. */
export function toComposeFiles(secrets: readonly PlatformSecret[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { name, data } of secrets) {
    const variables = Object.entries(data).filter(([key]) => VARIABLES[key] !== undefined);
    files.set(`${name}.env`, variables.map(([key, value]) => `${VARIABLES[key]}=${value}\n`).join(''));
    for (const [key, value] of Object.entries(data))
      if (VARIABLES[key] === undefined) files.set(`${name}/${key}`, value);
  }
  return files;
}

function hashes(of: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(of).map(([name, secret]) => [name, sha256(secret)]));
}

function toNatsAuthorization(nats: Readonly<Record<string, string>>): string {
  const principals = Object.entries(nats).flatMap(([user, password]) => {
    const principal = toPrincipal(user);
    return principal === undefined ? [] : [{ principal, password }];
  });
  const roles = principals.flatMap(({ principal }) => (principal.kind === 'worker' ? [principal.role] : []));
  return toNatsServerConfig({ principals, roles: [...new Set([...BUILT_IN_ROLES, ...roles])] });
}

/** The inverse of `principalName`. */
function toPrincipal(user: string): Principal | undefined {
  if (user.startsWith('worker-')) return { kind: 'worker', role: user.slice('worker-'.length) };
  if (user.startsWith('tenant-')) return { kind: 'tenant', tenantId: user.slice('tenant-'.length) };
  for (const kind of ['scheduler', 'knowledge-maintainer', 'gateway', 'admin'] as const)
    if (user === kind) return { kind };
  return undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
