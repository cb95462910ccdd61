import type { Pin } from '@cleanslate/contracts';
import type { SpaceFollower } from '@cleanslate/llm';
import type { KnowledgePort, KnowledgeQuestion } from '@cleanslate/sources';
import {
  type Database,
  getLastRevision,
  notEmbeddedYet,
  searchFacts,
  type Tx,
  withTransaction,
} from '@cleanslate/store';
import { awaitPin, type EmbedQuery } from '../handlers/search.ts';
import { findOtherSpace, readSpaces } from './embed-query.ts';

const ROLE = 'cleanslate_retriever';

/**
 * The knowledge base as a source: hybrid search at the pin, with the retriever's own read credential, one tenant at a
 * time. `follow`: embeds the questions.
 */
export function knowledgePort(database: Database, embed: EmbedQuery, follow: SpaceFollower): KnowledgePort {
  return {
    search: async (question) => {
      const { tenantId, query, signal } = question;
      // Before a connection is taken: a model may take its time.
      const vector = await embed(query, signal);
      signal.throwIfAborted();
      if (question.pin !== undefined) {
        const pending = await awaitPin(database, tenantId, vector, question.pin.revision, signal);
        if (pending > 0) throw notEmbeddedYet(pending);
      }
      return await withTransaction(database, { role: ROLE, tenantId, readOnly: true }, async (tx) => {
        const pin = question.pin ?? (await readNow(tx));
        const filter = { ...toFilter(question), accessLevels: question.accessLevels };
        const { limit } = question;
        return await searchFacts(tx, tenantId, {
          query,
          pin,
          pinned: question.pin !== undefined,
          vector,
          filter,
          limit,
        });
      });
    },
    check: async () => {
      const revision = await withTransaction(database, { role: ROLE, readOnly: true }, getLastRevision);
      const spaces = await readSpaces(database);
      const { space } = await follow(spaces);
      const kept = findOtherSpace(spaces, space.id);
      const lacking = kept === null ? '' : `; searched by words alone: it is kept in ${kept}, not in ${space.id}`;
      return `the knowledge base, at revision ${revision}${lacking}`;
    },
  };
}

async function readNow(tx: Tx): Promise<Pin> {
  return { validAt: new Date().toISOString(), revision: await getLastRevision(tx) };
}

function toFilter({ prefix }: KnowledgeQuestion) {
  return prefix === undefined ? {} : { idPrefix: prefix };
}
