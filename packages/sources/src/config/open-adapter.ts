import { dirname, resolve } from 'node:path';
import { AppError } from '@cleanslate/contracts';
import type { SourceAdapter } from '../adapter.ts';
import { confluenceAdapter } from '../confluence/confluence-adapter.ts';
import { filesAdapter } from '../files/files-adapter.ts';
import type { ResolveAll } from '../http/guarded-agent.ts';
import { httpJsonAdapter } from '../http-json/http-json-adapter.ts';
import { parseTemplate } from '../mapping/template.ts';
import { type Embedder, qdrantAdapter } from '../qdrant/qdrant-adapter.ts';
import { sqlAdapter } from '../sql/sql-adapter.ts';
import { type Env, readVariable, toCredentials } from './credentials.ts';
import type { SettingsOf, SourceSettings } from './schema.ts';
import { toParams } from './to-params.ts';

export type AdapterParts = {
  /** Folder of the file: paths in it are relative to this. */
  readonly file: string;
  readonly env: Env;
  /** Embeds questions for vector databases. */
  readonly embedder?: Embedder | undefined;
  /** Called for files that can't be read. */
  readonly onUnreadable?: (source: string, path: string, why: string) => void;
  /** Default: the system's name server. */
  readonly resolve?: ResolveAll;
};

export function openAdapter(settings: SourceSettings, parts: AdapterParts): SourceAdapter {
  switch (settings.kind) {
    case 'files':
      return openFiles(settings, parts);
    case 'sql':
      return openSql(settings, parts);
    case 'http':
      return httpJsonAdapter({
        ...settings,
        ...toFetch(settings, parts),
        params: toParams(settings.params),
        body: settings.body,
        mapping: settings.evidence,
        credentials: toCredentials(parts.env, settings.name, settings.auth),
      });
    case 'qdrant':
      return openQdrant(settings, parts);
    case 'confluence':
      return confluenceAdapter({
        ...toFetch(settings, parts),
        url: settings.url,
        maxPages: settings.maxPages,
        scope: { spaces: settings.spaces, labels: settings.labels },
        credentials: toCredentials(parts.env, settings.name, settings.auth),
      });
  }
}

function openFiles(
  { name, folder, maxFiles, maxFileBytes, maxText, timeoutMs }: SettingsOf<'files'>,
  parts: AdapterParts,
): SourceAdapter {
  const { onUnreadable } = parts;
  return filesAdapter({
    source: name,
    folder: resolve(dirname(parts.file), folder),
    bounds: { maxFiles, maxFileBytes, maxDepth: 10 },
    maxChars: maxText,
    maxReadMs: Math.max(timeoutMs, 10_000),
    ...(onUnreadable === undefined ? {} : { onUnreadable: (path, why) => onUnreadable(name, path, why) }),
  });
}

function openSql(settings: SettingsOf<'sql'>, { env }: AdapterParts): SourceAdapter {
  const { name, urlFrom, query, params, evidence, timeoutMs, maxBytes, poolSize } = settings;
  const url = readVariable(env, name, urlFrom);
  if (!URL.canParse(url) || !/^postgres(?:ql)?:$/.test(new URL(url).protocol))
    throw new AppError('CONFIGURATION', `source "${name}": ${urlFrom} must be a postgres:// URL`);
  return sqlAdapter({
    source: name,
    url,
    query,
    timeoutMs,
    maxBytes,
    poolSize,
    params: toParams(params),
    mapping: evidence,
  });
}

function openQdrant(settings: SettingsOf<'qdrant'>, parts: AdapterParts): SourceAdapter {
  const { name, embeddingModel, evidence, url, collection, vector, tenantField, filters, params, minScore } = settings;
  const { embedder, env } = parts;
  if (embedder === undefined)
    throw new AppError('CONFIGURATION', `source "${name}" needs a model that embeds questions: set EMBEDDING_MODEL`);
  if (embedder.space.model !== embeddingModel)
    throw new AppError(
      'CONFIGURATION',
      `source "${name}" was filled by ${embeddingModel}, questions are embedded by ${embedder.space.model}: vectors of two models can't be compared`,
    );
  return qdrantAdapter({
    ...toFetch(settings, parts),
    url,
    collection,
    vector,
    tenantField,
    filters,
    minScore,
    embedder,
    params: toParams(params),
    mapping: { ...evidence, locator: evidence.locator ?? parseTemplate('{collection}/{point_id}') },
    credentials: toCredentials(env, name, settings.auth),
  });
}

function toFetch(
  { name, privateHosts, maxBytes, timeoutMs }: SettingsOf<'http' | 'qdrant' | 'confluence'>,
  { resolve: lookup }: AdapterParts,
) {
  const connectTimeoutMs = Math.min(timeoutMs, 5_000);
  return {
    source: name,
    privateHosts,
    maxBytes,
    timeoutMs,
    connectTimeoutMs,
    ...(lookup === undefined ? {} : { resolve: lookup }),
  };
}
