import { AppError } from '@cleanslate/contracts';
import type { Source, SourceCatalog } from '@cleanslate/domain';
import { type GuardedSource, type GuardHooks, type GuardSettings, guarded } from '../guard/guarded.ts';
import { type KnowledgePort, knowledgeAdapter } from '../knowledge/knowledge-adapter.ts';
import { sourceError } from '../source-error.ts';
import { type AdapterParts, openAdapter } from './open-adapter.ts';
import { KNOWLEDGE_SOURCE } from './read-sources.ts';
import type { SourceSettings } from './schema.ts';

export type OpenSourcesOptions = AdapterParts & {
  readonly settings: readonly SourceSettings[];
  /** Left out if there is no database: then there is no knowledge source. */
  readonly knowledge?: KnowledgePort | undefined;
  readonly hooks?: GuardHooks;
};

export type SourceState = { readonly name: string; readonly kind: string; readonly ok: boolean; readonly says: string };

export type OpenSources = SourceCatalog &
  AsyncDisposable & {
    /** All of them, whoever may ask. */
    readonly all: readonly GuardedSource[];
    /** Asks each whether it is there. Never throws. */
    check(): Promise<SourceState[]>;
  };

type Entry = { readonly guard: GuardedSource; readonly tenants: ReadonlySet<string> | undefined };

/**
 * Opens what a file declares. Connects to nothing before the first question. Throws `CONFIGURATION`: a missing
 * variable, a model that did not fill a collection.
 */
export function openSources({ settings, knowledge, hooks, ...parts }: OpenSourcesOptions): OpenSources {
  const entries: Entry[] = settings.map((each) => ({
    guard: guarded(openAdapter(each, parts), each, hooks),
    tenants: each.tenants === undefined ? undefined : new Set(each.tenants),
  }));
  if (knowledge !== undefined) entries.unshift({ guard: openKnowledge(knowledge, hooks), tenants: undefined });
  const isFor = (tenantId: string) => (entry: Entry) => entry.tenants?.has(tenantId) ?? true;
  const list = (tenantId: string): Source[] => entries.filter(isFor(tenantId)).map(({ guard }) => guard.for(tenantId));
  return {
    all: entries.map(({ guard }) => guard),
    list,
    get: (tenantId, name) => {
      const found = entries.filter(isFor(tenantId)).find(({ guard }) => guard.metadata.name === name);
      if (found !== undefined) return found.guard.for(tenantId);
      const names = list(tenantId).map((source) => source.name);
      const known = names.length === 0 ? 'it has none' : `those are ${names.join(', ')}`;
      throw sourceError('SOURCE_UNKNOWN', name, `is none that this tenant may ask: ${known}`);
    },
    check: () => Promise.all(entries.map(({ guard }) => checkOne(guard))),
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled(entries.map(({ guard }) => guard[Symbol.asyncDispose]()));
    },
  };
}

function openKnowledge(port: KnowledgePort, hooks?: GuardHooks): GuardedSource {
  const settings: GuardSettings = {
    name: KNOWLEDGE_SOURCE,
    title: 'Governed facts of this tenant, versioned and dated',
    accessLevel: 'public',
    knowledgeType: 'rule',
    timeoutMs: 10_000,
    maxChars: 200_000,
  };
  return guarded(knowledgeAdapter(port), settings, hooks);
}

async function checkOne(guard: GuardedSource): Promise<SourceState> {
  const { name, kind } = guard.metadata;
  try {
    return { name, kind, ok: true, says: await guard.check() };
  } catch (error) {
    return { name, kind, ok: false, says: error instanceof AppError ? `${error.code}: ${error.message}` : 'failed' };
  }
}
