import { FactRef, MAX_FACT_REFS } from '@cleanslate/contracts';

const MAX_DEPTH = 64;
const MAX_VALUES = 200_000;
/** An id of 63 characters and a version of nine digits. */
const MAX_LENGTH = 73;

/**
 * The fact versions that a value names, each once, in the order of their appearance: strings that are `id@version`, and
 * whole facts as they are read (`{ knowledgeId, version }`). Texts are not searched: a reference in prose is not
 * evidence.
 */
export function findFactRefs(value: unknown): string[] {
  const found = new Set<string>();
  let looked = 0;
  const visit = (item: unknown, depth: number): void => {
    if (found.size >= MAX_FACT_REFS || depth > MAX_DEPTH || looked++ > MAX_VALUES) return;
    if (typeof item === 'string') {
      if (isFactRef(item)) found.add(item);
      return;
    }
    if (typeof item !== 'object' || item === null) return;
    if ('knowledgeId' in item && 'version' in item) {
      const ref = `${String(item.knowledgeId)}@${String(item.version)}`;
      if (isFactRef(ref)) found.add(ref);
    }
    for (const key of Object.keys(item)) {
      // The cause of a fact's doubt is not a ground of anything.
      if (key !== 'marks') visit((item as Record<string, unknown>)[key], depth + 1);
    }
  };
  visit(value, 0);
  return [...found];
}

/** `ref` as id and version; it must be a reference. */
export function splitFactRef(ref: string): { readonly knowledgeId: string; readonly version: number } {
  const at = ref.lastIndexOf('@');
  return { knowledgeId: ref.slice(0, at), version: Number(ref.slice(at + 1)) };
}

function isFactRef(text: string): boolean {
  // Most strings are prose: nearly all are ruled out by length or by a missing sign.
  return text.length <= MAX_LENGTH && text.includes('@') && FactRef.safeParse(text).success;
}
