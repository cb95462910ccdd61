import { resolve } from 'node:path';
import { createEmbeddings, embeddingConfig } from '@cleanslate/llm';
import type { OpenSources, SourceSettings } from '@cleanslate/sources';
import { z } from 'zod';
import type { CommandContext } from '../context.ts';
import { inputError } from '../input-error.ts';
import { readBytes } from './read-bytes.ts';

/**
 * Loaded only by the commands that need it: its database driver and HTTP client would slow down the start of every
 * other one.
 */
const loadSources = () => import('@cleanslate/sources');

export type SourcesFile = { readonly file: string; readonly settings: readonly SourceSettings[] };

/** What `--file` or `SOURCES_FILE` declares. Throws `CONFIGURATION` with every fault of the file. */
async function readSourcesFile({ env }: Pick<CommandContext, 'env'>, given?: string): Promise<SourcesFile> {
  const named = given ?? env['SOURCES_FILE'];
  if (named === undefined || named === '')
    throw inputError({ what: 'no file of sources', where: '--file', remedy: 'name one, or set SOURCES_FILE' });
  const file = resolve(named);
  const { readSources } = await loadSources();
  return { file, settings: readSources(await readBytes(file, '--file'), file) };
}

/** Opens them here, with the variables of this shell. Throws `CONFIGURATION`: a variable is missing. */
export async function openSourcesFile(context: CommandContext, given?: string): Promise<OpenSources> {
  const { file, settings } = await readSourcesFile(context, given);
  const { openSources } = await loadSources();
  const embeddings = await createEmbeddings(z.object(embeddingConfig).parse(context.config.embedding));
  return openSources({ settings, file, env: context.env, embedder: embeddings });
}

/** For the retriever of the local stack: the file and the variables it names. Nothing if no file is set. */
export async function toSourcesEnvironment(env: CommandContext['env']): Promise<Record<string, string>> {
  if (!env['SOURCES_FILE']) return {};
  const { file, settings } = await readSourcesFile({ env });
  const { variablesOf } = await loadSources();
  const values = variablesOf(settings).flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  return { SOURCES_FILE: file, ...Object.fromEntries(values) };
}
