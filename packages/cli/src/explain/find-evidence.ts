import { FactRef } from '@cleanslate/contracts';
import { z } from 'zod';

const Quote = z.object({ quote: z.string().min(1), span: z.object({ start: z.number(), end: z.number() }) });

export type Passage = { readonly quote: string; readonly start: number; readonly end: number };
export type FoundEvidence = { readonly passages: readonly Passage[]; readonly factRefs: readonly string[] };

const MAX_DEPTH = 64;
const MOST = 200;

/**
 * What a result, of whatever workflow, rests on: every quote with its place, and every `knowledgeId@version`, each
 * once, in order of appearance. Texts are not searched: a reference in prose is not evidence.
 */
export function findEvidence(result: unknown): FoundEvidence {
  const passages = new Map<string, Passage>();
  const factRefs = new Set<string>();
  const visit = (value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') {
      if (FactRef.safeParse(value).success) factRefs.add(value);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const found = Quote.safeParse(value).data;
    if (found) {
      const { start, end } = found.span;
      passages.set(`${start}-${end}`, { quote: found.quote, start, end });
    }
    for (const item of Object.values(value)) visit(item, depth + 1);
  };
  visit(result, 0);
  return { passages: [...passages.values()].slice(0, MOST), factRefs: [...factRefs].slice(0, MOST) };
}
