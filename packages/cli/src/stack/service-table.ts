import { join } from 'node:path';
import { type Principal, principalName } from '@cleanslate/contracts';
import { checkoutRoot, type Service, startService } from '@cleanslate/infra';
import type { DatabaseRole } from '@cleanslate/store';

export type ServiceSpec = {
  readonly name: string;
  readonly principal: Principal;
  /** The role it logs in with; services without one use no database. */
  readonly databaseRole?: DatabaseRole;
};

/** One process each. */
export const SERVICES: readonly ServiceSpec[] = [
  { name: 'scheduler', principal: { kind: 'scheduler' }, databaseRole: 'cleanslate_scheduler' },
  {
    name: 'knowledge-maintainer',
    principal: { kind: 'knowledge-maintainer' },
    databaseRole: 'cleanslate_maintainer',
  },
  { name: 'gateway', principal: { kind: 'gateway' }, databaseRole: 'cleanslate_gateway' },
  { name: 'planner', principal: { kind: 'worker', role: 'planner' } },
  { name: 'retriever', principal: { kind: 'worker', role: 'retriever' }, databaseRole: 'cleanslate_retriever' },
  { name: 'analyzer', principal: { kind: 'worker', role: 'analyzer' } },
  { name: 'generator', principal: { kind: 'worker', role: 'generator' } },
  { name: 'validator', principal: { kind: 'worker', role: 'validator' }, databaseRole: 'cleanslate_validator' },
];

export const SERVICE_NAMES: readonly string[] = SERVICES.map((service) => service.name);

/** Services that use the embedding server: facts are embedded when they are written, queries when they are asked. */
export function embeds(service: string): boolean {
  return service === 'gateway' || service === 'knowledge-maintainer' || service === 'retriever';
}

export type ServiceWorld = {
  readonly natsUrl: string;
  readonly natsLogin: (user: string) => { readonly user: string; readonly password: string };
  readonly databaseUrl: (role: DatabaseRole) => string;
  readonly logLevel: string;
  readonly httpPort: number;
  readonly compileCache: string;
  /** `EMBEDDING_…` from the command line's environment. */
  readonly embedding: Readonly<Record<string, string>>;
  /** `SOURCES_FILE` and the variables it names, for the retriever. */
  readonly sources: Readonly<Record<string, string>>;
  /** `MODEL` and the other model settings, likewise. */
  readonly model: Readonly<Record<string, string>>;
};

/** Resolves once it answers `/readyz`. */
export function startServiceOf(
  spec: ServiceSpec,
  world: ServiceWorld,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<Service> {
  return startService({
    name: spec.name,
    entry: join(checkoutRoot, 'services', spec.name, 'src', 'main.ts'),
    env: environmentOf(spec, world),
    log,
    signal,
  });
}

/** The whole environment of a service: nothing is passed on that isn't named here. */
function environmentOf(service: ServiceSpec, world: ServiceWorld): Record<string, string> {
  const login = world.natsLogin(principalName(service.principal));
  return {
    NATS_URL: world.natsUrl,
    NATS_USER: login.user,
    NATS_PASSWORD: login.password,
    LOG_LEVEL: world.logLevel,
    GRACE_MS: '8000',
    // Each process compiles the same packages; the cache saves most of that from the second start on.
    NODE_COMPILE_CACHE: world.compileCache,
    ...(embeds(service.name) ? world.embedding : {}),
    ...(service.name === 'retriever' ? world.sources : {}),
    ...(service.principal.kind === 'worker' ? world.model : {}),
    ...(service.databaseRole === undefined ? {} : { DATABASE_URL: world.databaseUrl(service.databaseRole) }),
    ...(service.name === 'gateway' ? { HTTP_PORT: String(world.httpPort) } : {}),
  };
}
