import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { BUILT_IN_ROLES, type Principal, principalName, Sha256, TenantId } from '@cleanslate/contracts';
import { DATABASE_ROLES, type DatabaseRole } from '@cleanslate/store';
import { z } from 'zod';
import { lockFile } from './file-lock.ts';
import type { Home } from './home.ts';
import { readJsonFile, writePrivateFile } from './private-file.ts';

/** Passwords of a local stack, made once and kept: by NATS user, by database role, and an API key per tenant. */
export const Credentials = z.object({
  nats: z.record(z.string(), z.string()),
  database: z.record(z.string(), z.string()),
  apiKeys: z.record(TenantId, z.string()),
  /**
   * Instead of keys, for those who must recognise them but not use them: the Job that registers them. SHA-256 by
   * tenant.
   */
  apiKeyHashes: z.record(TenantId, Sha256).optional(),
});
export type Credentials = z.infer<typeof Credentials>;

const SERVICE_PRINCIPALS: readonly Principal[] = [
  { kind: 'scheduler' },
  { kind: 'knowledge-maintainer' },
  { kind: 'gateway' },
  { kind: 'admin' },
];
const WORKER = 'worker-';

/** All roles that have a credential, built in or added. */
export function rolesOf(credentials: Credentials | undefined): string[] {
  const users = Object.keys(credentials?.nats ?? {}).filter((user) => user.startsWith(WORKER));
  return [...new Set([...BUILT_IN_ROLES, ...users.map((user) => user.slice(WORKER.length))])];
}

/** Everyone who may connect to the broker, with the password. */
export function principalsOf(credentials: Credentials): { principal: Principal; password: string }[] {
  const workers = rolesOf(credentials).map((role): Principal => ({ kind: 'worker', role }));
  const tenants = tenantsOf(credentials).map((tenantId): Principal => ({ kind: 'tenant', tenantId }));
  return [...SERVICE_PRINCIPALS, ...workers, ...tenants].map((principal) => ({
    principal,
    password: credentials.nats[principalName(principal)] ?? '',
  }));
}

export function findCredentials(home: Home): Promise<Credentials | undefined> {
  return readJsonFile(home.credentials, Credentials);
}

/** Adds what is missing and leaves the rest as it is. */
export function ensureCredentials(home: Home, tenants: readonly string[]): Promise<Credentials> {
  return changeCredentials(home, (known) => {
    const credentials = complete(known, tenants.map(toTenant));
    return { ...credentials, apiKeys: fill(known?.apiKeys, tenants, 'csk_') };
  });
}

export function addTenantCredential(home: Home, tenantId: string, apiKey: string): Promise<Credentials> {
  return changeCredentials(home, (known) => ({
    ...complete(known, [toTenant(tenantId)]),
    apiKeys: { ...known?.apiKeys, [tenantId]: apiKey },
  }));
}

export function addRoleCredential(home: Home, role: string): Promise<Credentials> {
  return changeCredentials(home, (known) => complete(known, [{ kind: 'worker', role }]));
}

/** Without the principal's password, and a tenant's API key. */
export function removeCredential(home: Home, principal: Principal): Promise<Credentials> {
  return changeCredentials(home, (known = NONE) => ({
    ...known,
    nats: without(known.nats, principalName(principal)),
    apiKeys: principal.kind === 'tenant' ? without(known.apiKeys, principal.tenantId) : known.apiKeys,
  }));
}

/** With a password for every service and for `more`. */
function complete(known: Credentials | undefined, more: readonly Principal[]): Credentials {
  const workers = rolesOf(known).map((role): Principal => ({ kind: 'worker', role }));
  return {
    nats: fill(known?.nats, [...SERVICE_PRINCIPALS, ...workers, ...more].map(principalName)),
    database: fill(known?.database, DATABASE_ROLES),
    apiKeys: known?.apiKeys ?? {},
  };
}

const NONE: Credentials = { nats: {}, database: {}, apiKeys: {} };

function toTenant(tenantId: string): Principal {
  return { kind: 'tenant', tenantId };
}

/** Two commands at once must not undo each other's change. */
async function changeCredentials(
  home: Home,
  change: (known: Credentials | undefined) => Credentials,
): Promise<Credentials> {
  await mkdir(home.root, { recursive: true });
  await using _ = await lockFile(home.credentialsLock);
  const credentials = change(await findCredentials(home));
  await writePrivateFile(home.credentials, `${JSON.stringify(credentials, null, 2)}\n`);
  return credentials;
}

/** Tenants that have a credential here. */
export function tenantsOf(credentials: Credentials): string[] {
  return Object.keys(credentials.apiKeys);
}

/** SHA-256 of each tenant's API key. */
export function apiKeyHashes({ apiKeys, apiKeyHashes: known = {} }: Credentials): ReadonlyMap<string, Buffer> {
  const own = Object.entries(apiKeys).map(([tenantId, key]) => [tenantId, sha256(key)] as const);
  const given = Object.entries(known).map(([tenantId, hex]) => [tenantId, Buffer.from(hex, 'hex')] as const);
  return new Map([...given, ...own]);
}

export function databasePasswords(credentials: Credentials): Partial<Record<DatabaseRole, string>> {
  return Object.fromEntries(DATABASE_ROLES.map((role) => [role, credentials.database[role]]));
}

function without(known: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(known).filter(([key]) => key !== name));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function fill(
  known: Record<string, string> | undefined,
  names: readonly string[],
  prefix = '',
): Record<string, string> {
  const missing = names.filter((name) => known?.[name] === undefined);
  return {
    ...known,
    ...Object.fromEntries(missing.map((name) => [name, prefix + randomBytes(24).toString('base64url')])),
  };
}
