import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAppError } from '@cleanslate/contracts';
import type { Evidence, SourceParams, SourceQueryOptions } from '@cleanslate/domain';
import { hashedEmbeddings } from '@cleanslate/llm';
import { type OpenSources, openSources, readSources } from '@cleanslate/sources';

export type TestSources = AsyncDisposable & {
  readonly sources: OpenSources;
  /** Folder of the file. */
  readonly folder: string;
  ask(
    name: string,
    params: SourceParams,
    options?: Partial<SourceQueryOptions> & { readonly tenant?: string },
  ): Promise<Evidence[]>;
  /** `CODE`, or what came where nothing failed. */
  codeOf(name: string, params: SourceParams, options?: Partial<SourceQueryOptions>): Promise<unknown>;
};

/**
 * Sources as a file declares them, in a folder of their own. Questions are embedded by the
 * packaged model in 64 numbers.
 */
export async function openTestSources(yaml: string, env: Readonly<Record<string, string>> = {}): Promise<TestSources> {
  const folder = await mkdtemp(join(tmpdir(), 'cleanslate-sources-'));
  const file = join(folder, 'sources.yaml');
  await writeFile(file, yaml);
  const settings = readSources(Buffer.from(yaml), file);
  const sources = openSources({ settings, file, env, embedder: hashedEmbeddings({ dimension: 64 }) });
  const ask: TestSources['ask'] = (name, params, { tenant = 'acme', ...options } = {}) =>
    sources.get(tenant, name).query(params, { signal: new AbortController().signal, limit: 10, ...options });
  return {
    sources,
    folder,
    ask,
    codeOf: (name, params, options) =>
      ask(name, params, options).catch((error: unknown) => {
        if (isAppError(error)) return error.code;
        throw error;
      }),
    [Symbol.asyncDispose]: async () => {
      await sources[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
