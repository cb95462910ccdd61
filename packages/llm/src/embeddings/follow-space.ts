import type { EmbeddingProvider, EmbeddingSpace } from './embedding-space.ts';
import { createEmbeddings, type EmbeddingSettings } from './provider.ts';

/** A space as it is stored: the part of it that says which provider embeds in it. */
export type KeptSpace = Pick<EmbeddingSpace, 'model' | 'dimension'> & { readonly space: string };

/**
 * The provider of a space that the knowledge base was moved to, with the server and key of these settings. Undefined if
 * they don't reach it: they name no server, or this release treats texts differently from the one that filled the
 * space.
 */
export async function embeddingsOf(
  settings: EmbeddingSettings,
  { space, model, dimension }: KeptSpace,
): Promise<EmbeddingProvider | undefined> {
  if (model !== 'hashed' && settings.EMBEDDING_URL === undefined) return undefined;
  const found = await createEmbeddings({ ...settings, EMBEDDING_MODEL: model, EMBEDDING_DIMENSION: dimension });
  return found.space.id === space ? found : undefined;
}

/** Takes all spaces that vectors are kept in. */
export type SpaceFollower = (spaces: readonly (KeptSpace & { readonly state: string })[]) => Promise<EmbeddingProvider>;

/**
 * For callers who embed queries: the provider of the space that the knowledge base is kept in at this moment, so that a
 * move needs no restart. A space that the settings don't reach is reported to `onMissed` once, and questions stay in
 * the configured space, whose vectors are kept until somebody drops them.
 */
export function followSpace(
  configured: EmbeddingProvider,
  settings: EmbeddingSettings,
  onMissed: (active: KeptSpace) => void,
): SpaceFollower {
  const providers = new Map<string, Promise<EmbeddingProvider>>([[configured.space.id, Promise.resolve(configured)]]);
  const find = async (active: KeptSpace) => {
    const found = await embeddingsOf(settings, active);
    if (found === undefined) onMissed(active);
    return found ?? configured;
  };
  return async (spaces) => {
    const active = spaces.find(({ state }) => state === 'active');
    if (active === undefined) return configured;
    const provider = providers.get(active.space) ?? find(active);
    providers.set(active.space, provider);
    try {
      return await provider;
    } catch (error) {
      // A passing failure (a module that could not be loaded) is not kept: the next question tries again.
      if (providers.get(active.space) === provider) providers.delete(active.space);
      throw error;
    }
  };
}
