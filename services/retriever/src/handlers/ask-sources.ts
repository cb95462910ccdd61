import { type AccessLevel, type Pin, type SourceType, toAppError } from '@cleanslate/contracts';
import type { Source, SourceCatalog } from '@cleanslate/domain';
import { type FoundFact, matchFact, needOf, toFoundPassages } from '@cleanslate/workflows';

const MAX_EVIDENCE = 10;
/**
 * Sources other than the knowledge base are asked with a question in words; one that needs
 * more can't be asked like this.
 */
const QUERY = 'query';

type Asked = {
  readonly names: readonly string[];
  readonly question: string;
  readonly clearance: AccessLevel;
  readonly pin: Pin;
  readonly signal: AbortSignal;
};

export type AskedSources = {
  /** Sentences that answer the question. */
  readonly passages: readonly FoundFact[];
  readonly unreachable: readonly { readonly source: string; readonly code: string }[];
};

/**
 * Asks each source for passages; the sentences that answer stay. A source that can't be asked, now or in this way, is
 * named: the others' answer is worth having. Throws `SOURCE_UNKNOWN` if this tenant has no source of a given name, and
 * whatever the signal ended with.
 */
export async function askSources(catalog: SourceCatalog, tenantId: string, asked: Asked): Promise<AskedSources> {
  const need = needOf(asked.question);
  const sources = [...new Set(asked.names)].map((name) => catalog.get(tenantId, name));
  const answers = await Promise.all(sources.map((source) => askOne(source, asked)));
  return {
    passages: answers.flatMap(({ found }) => found.filter((passage) => matchFact(passage, need) !== null)),
    unreachable: answers.flatMap(({ unreachable }) => unreachable),
  };
}

async function askOne(source: Source, { question, clearance, pin, signal }: Asked) {
  const unreachable = (code: string) => ({ found: [], unreachable: [{ source: source.name, code }] });
  const needed = source.metadata().params.filter(({ required }) => required);
  if (needed.some(({ name }) => name !== QUERY)) return unreachable('SOURCE_NEEDS_PARAMETERS');
  try {
    const params = source.metadata().params.some(({ name }) => name === QUERY) ? { [QUERY]: question } : {};
    const evidence = await source.query(params, { limit: MAX_EVIDENCE, clearance, pin, signal });
    return { found: evidence.flatMap((each) => toFoundPassages(each, sourceTypeOf(source))), unreachable: [] };
  } catch (error) {
    signal.throwIfAborted();
    const { code } = toAppError(error);
    if (!code.startsWith('SOURCE_')) throw error;
    return unreachable(code);
  }
}

/** A tenant's own files, tables and pages count as its documents; what comes over HTTP is somebody else's. */
function sourceTypeOf({ kind }: Source): SourceType {
  return kind === 'http' ? 'external_source' : 'internal_document';
}
