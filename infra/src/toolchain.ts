import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { LaunchError } from './launch-error.ts';

/**
 * How the set-up script got each server; it writes this to `.cleanslate/toolchain.json` in the checkout. Of kind `url`
 * is what NATS_URL or DATABASE_URL names; the address itself is not kept, because it holds a password.
 */
export interface Toolchain {
  readonly nats?: NatsChoice;
  /**
   * A real PostgreSQL with TimescaleDB and pgvector; absent until something needed one (`npm test`, `npm run setup`).
   */
  readonly postgres?: PostgresChoice;
  /** What the page is tested in. */
  readonly chromium?: ChromiumChoice;
  /** What the demo's database is. */
  readonly demoPostgres?: { readonly kind: 'url' | 'embedded'; readonly why: string };
}

export type NatsChoice = { readonly why: string; readonly version: string } & (
  | { readonly kind: 'url' }
  | { readonly kind: 'binary'; readonly path: string }
  | { readonly kind: 'docker'; readonly image: string }
);

export type PostgresChoice = { readonly why: string } & (
  | { readonly kind: 'url' }
  | { readonly kind: 'binary'; readonly bin: string; readonly version: string }
  | { readonly kind: 'rootfs'; readonly root: string; readonly bin: string; readonly version: string }
  | { readonly kind: 'docker'; readonly image: string; readonly version: string }
);

export type ChromiumChoice = { readonly why: string } & (
  | { readonly kind: 'binary'; readonly path: string }
  | { readonly kind: 'missing' }
);

/** The root of this checkout. */
export const checkoutRoot: string = join(import.meta.dirname, '..', '..');

/** Reads what the set-up chose. Throws `TOOLCHAIN_MISSING` if it has not run in this checkout. */
export function readToolchain(file: string = join(checkoutRoot, '.cleanslate', 'toolchain.json')): Toolchain {
  if (!existsSync(file)) {
    throw new LaunchError('TOOLCHAIN_MISSING', `${file} is missing. Run \`npm run setup\` in the checkout.`);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Toolchain;
}

/** The Node that the workspace pins, or the running one if that is new enough to strip types. */
export function findPinnedNode(): string {
  const major = Number.parseInt(process.versions.node, 10);
  if (major >= 24) return process.execPath;
  const packageFile = createRequire(join(checkoutRoot, 'package.json')).resolve('node/package.json');
  return join(dirname(packageFile), 'bin', 'node');
}

/** What a child needs of our environment to run at all; its configuration is passed explicitly. */
export function inheritedEnvironment(): Record<string, string> {
  const names = [
    'PATH',
    'HOME',
    'TMPDIR',
    'TZ',
    'DOCKER_HOST',
    'DOCKER_CONFIG',
    'DOCKER_CONTEXT',
    'NODE_EXTRA_CA_CERTS',
  ];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
