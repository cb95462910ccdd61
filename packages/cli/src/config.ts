import { join, resolve } from 'node:path';
import { mismatch } from '@cleanslate/contracts';
import { checkoutRoot } from '@cleanslate/infra';
import { modelConfig } from '@cleanslate/llm';
import { z } from 'zod';

/** What the command line reads from the environment. */
const Environment = z.object({
  CLEANSLATE_HOME: z.string().min(1).optional(),
  NATS_URL: z.string().min(1).optional(),
  NATS_USER: z.string().min(1).optional(),
  NATS_PASSWORD: z.string().min(1).optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
  SLATE_TENANT: z.string().min(1).optional(),
  SLATE_PERSON: z.string().min(1).optional(),
  EMBEDDING_MODEL: z.string().min(1).optional(),
  EMBEDDING_DIMENSION: z.string().min(1).optional(),
  EMBEDDING_URL: z.string().min(1).optional(),
  EMBEDDING_API_KEY: z.string().min(1).optional(),
  ...Object.fromEntries(Object.keys(modelConfig).map((name) => [name, z.string().min(1).optional()])),
});

export type CliConfig = {
  /** Folder of the local stack's state. */
  readonly home: string;
  /** A broker that isn't ours to start. */
  readonly natsUrl: string | undefined;
  readonly natsUser: string | undefined;
  readonly natsPassword: string | undefined;
  /** An administrator's URL of a database that isn't ours to start. */
  readonly databaseUrl: string | undefined;
  readonly tenant: string;
  /** Who speaks through this command line. */
  readonly person: string | undefined;
  /**
   * Embedding settings for the services of the local stack (`EMBEDDING_MODEL` …); `slate fact reembed` takes the key
   * from here.
   */
  readonly embedding: Readonly<Record<string, string>>;
  /** Model settings for the workers of the local stack (`MODEL` …). */
  readonly model: Readonly<Record<string, string>>;
};

/** Throws `SCHEMA_MISMATCH` naming the variable. An empty variable counts as unset. */
export function readCliConfig(env: Readonly<Record<string, string | undefined>>): CliConfig {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = Environment.safeParse(set);
  if (!parsed.success) throw mismatch('environment', parsed.error);
  const vars = parsed.data;
  return {
    home: resolve(vars.CLEANSLATE_HOME ?? join(checkoutRoot, '.cleanslate')),
    natsUrl: vars.NATS_URL,
    natsUser: vars.NATS_USER,
    natsPassword: vars.NATS_PASSWORD,
    databaseUrl: vars.DATABASE_URL,
    tenant: vars.SLATE_TENANT ?? 'demo',
    person: vars.SLATE_PERSON,
    embedding: pick(vars, (name) => name.startsWith('EMBEDDING_')),
    model: pick(vars, (name) => name in modelConfig),
  };
}

function pick(
  vars: Readonly<Record<string, string | undefined>>,
  is: (name: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(vars).flatMap(([name, value]) => (is(name) && value ? [[name, value]] : [])),
  );
}
