import type { Candidate } from '@cleanslate/contracts';
import { DEFAULT_SCREEN, screenCandidate } from '../knowledge/index.ts';
import { isDoubtful, isInstructionLike, sanitizeText } from '../sanitizing/index.ts';
import { findUnmeant } from './find-unmeant.ts';
import { MEMORY_REFUSALS, MEMORY_TYPES, type MemoryRefusal, type PickedMemory, type SaidItem } from './memory.ts';
import { findSentenceEnds } from './sentences.ts';

export type GatedMemories = {
  readonly candidates: readonly Candidate[];
  readonly refused: readonly { readonly item: number; readonly reason: MemoryRefusal }[];
};

/** One statement, not a speech. */
const MAX_QUOTE = 500;
/** The lowest confidence that the maintainer accepts for what nobody vouched for; who picked it makes no difference. */
const CONFIDENCE = 0.9;
/** What may separate two sentences, so that a quote may begin after it. */
const MAX_BLANKS = 200;
const QUESTION =
  /[?？]["'”’)）]*$|(?:吗|呢|么)[。.!！]?$|^(?:who|what|when|where|why|how|which|can|could|would|will|do|does|did|is|are|should|shall|may)\b(?! not\b).*\?|^(?:请问|谁|什么|为什么|怎么|如何|哪)/i;

/**
 * Candidates from what was picked from a conversation. Each is a user's own sentence, word for word; questions,
 * guesses, small talk, what was recalled from memory and what addresses a machine are refused, whoever picked it.
 */
export function gateMemories(
  sessionId: string,
  items: readonly SaidItem[],
  picked: readonly PickedMemory[],
): GatedMemories {
  const said = new Map(items.map((item) => [item.n, item]));
  const seen = new Set<string>();
  const candidates: Candidate[] = [];
  const refused: { item: number; reason: MemoryRefusal }[] = [];
  for (const memory of picked) {
    const candidate = toCandidate(sessionId, memory);
    const same = candidate.statement.replace(/[\s\p{P}]+/gu, '').toLowerCase();
    const reason = seen.has(same) ? 'repeated' : findFault(memory, candidate, said.get(memory.item));
    if (reason !== undefined) refused.push({ item: memory.item, reason });
    else {
      seen.add(same);
      candidates.push(candidate);
    }
  }
  return { candidates, refused };
}

function findFault(memory: PickedMemory, candidate: Candidate, item: SaidItem | undefined): MemoryRefusal | undefined {
  if (item?.from !== 'user') return 'not_said_by_user';
  const { statement } = candidate;
  if (statement.length > MAX_QUOTE) return 'too_long';
  if (!isWholeQuote(item.text, memory.quote.trim())) return 'not_quoted';
  // The item as a whole: an order to a machine may come before the sentence that it is about.
  if (isInstructionLike(item.text)) return 'instruction_like';
  if (QUESTION.test(statement)) return 'question';
  if (isDoubtful(statement)) return 'doubtful';
  const unmeant = findUnmeant(memory.kind, statement);
  if (unmeant !== undefined) return unmeant;
  if (sanitizeText(statement, candidate.knowledgeType).outcome === 'refused') return 'secret';
  // Not proposed, since the maintainer would refuse it.
  const screening = screenCandidate(candidate, true, DEFAULT_SCREEN);
  if (screening.passed) return undefined;
  return MEMORY_REFUSALS.find((known) => known === screening.reason) ?? 'screened';
}

/** From the beginning of a sentence to the end of one. */
function isWholeQuote(text: string, quote: string): boolean {
  if (quote === '') return false;
  const ends = findSentenceEnds(text);
  const closing = new Set(
    ends.map((end, index) => (ends[index - 1] ?? 0) + text.slice(ends[index - 1] ?? 0, end).trimEnd().length),
  );
  return [0, ...ends].some((end) => {
    const rest = text.slice(end, end + MAX_BLANKS + quote.length);
    const start = end + rest.length - rest.trimStart().length;
    return text.startsWith(quote, start) && closing.has(start + quote.length);
  });
}

function toCandidate(sessionId: string, { kind, item, quote }: PickedMemory): Candidate {
  return {
    statement: quote.trim().slice(0, 20_000) || '-',
    assertion: null,
    knowledgeType: MEMORY_TYPES[kind],
    sourceType: 'model_inference',
    sourceRef: `session:${sessionId}#${item}`,
    confidence: CONFIDENCE,
    importance: 0.5,
    derivedFrom: [],
    tags: ['memory', kind],
  };
}
