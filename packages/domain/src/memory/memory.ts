import type { KnowledgeType } from '@cleanslate/contracts';

/** Kinds of statement in a conversation that may be worth keeping longer. */
export const MEMORY_KINDS = ['preference', 'decision', 'correction'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export const MEMORY_TYPES: Readonly<Record<MemoryKind, KnowledgeType>> = {
  preference: 'preference',
  decision: 'conclusion',
  correction: 'lesson',
};

/** One line of a conversation. */
export type SaidItem = { readonly n: number; readonly from: 'user' | 'agent' | 'tool'; readonly text: string };

/** What a rule or a model picked from a conversation: a quote, never words of its own. */
export type PickedMemory = { readonly kind: MemoryKind; readonly item: number; readonly quote: string };

export const MEMORY_REFUSALS = [
  /** There is no such item, or no user said it. */
  'not_said_by_user',
  /**
   * The quote does not consist of whole sentences of the item, word for word: a part of a sentence may say the opposite
   * of it.
   */
  'not_quoted',
  'question',
  /** It says of itself that it is a guess. */
  'doubtful',
  /** Of a case that is only thought of, or in jest. */
  'supposed',
  /** It tells what others said or wrote. */
  'reported',
  /** A preference for this once. */
  'for_now',
  /** It speaks to a machine. */
  'instruction_like',
  /** It holds a credential. */
  'secret',
  'too_long',
  /** Said before in the same batch. */
  'repeated',
  'small_talk',
  'reasoning_text',
  'recalled_fact',
  'model_refusal',
  'system_prompt',
  'screened',
] as const;
export type MemoryRefusal = (typeof MEMORY_REFUSALS)[number];
