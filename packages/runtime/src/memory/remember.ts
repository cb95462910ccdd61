import type { Candidate, SessionItem } from '@cleanslate/contracts';
import { gateMemories, MEMORY_KINDS, type MemoryRefusal, pickMemories } from '@cleanslate/domain';
import { z } from 'zod';
import type { StepModel } from '../worker/step-model.ts';
import type { StepSession } from './session.ts';

export type RememberOptions = {
  /** Searches once this many items are new. Default 20. */
  readonly every?: number;
  /** The conversation is over: search whatever is new. */
  readonly end?: boolean;
};

export type Remembered = {
  /** Items that were searched; 0: it is not time yet. */
  readonly looked: number;
  /** Ids of the candidates. Like all candidates they wait for the verdict on the task. */
  readonly candidates: readonly string[];
  readonly refused: readonly { readonly item: number; readonly reason: MemoryRefusal }[];
  /** Who picked: the model's name, or `offline` for the rules. */
  readonly pickedBy: string;
};

type Step = {
  readonly model: StepModel;
  readonly blackboard: { readonly propose: (candidate: Candidate) => Promise<string> };
};

const EVERY = 20;
/** Tokens of one request to a model. */
const BATCH_CHARS = 24_000;
const MAX_PICKED = 50;

const Picked = z.strictObject({
  memories: z
    .array(z.strictObject({ kind: z.enum(MEMORY_KINDS), item: z.int().positive(), quote: z.string().max(2_000) }))
    .max(MAX_PICKED),
});

const INSTRUCTIONS = `The data blocks are what one person said in a conversation, a block for each line; the id "item-7" is item 7.
Pick what is worth keeping beyond this conversation: lasting preferences, decisions that were taken, corrections of facts.
Quote each as whole sentences, letter by letter, from one block. Pick nothing that is a question, a guess, small talk, or an order for this moment. An empty list is a good answer.`;

/**
 * Proposes for long-term memory what users said in a session since it was last searched: preferences, decisions,
 * corrections, picked by rules or, if one is configured, by a model whose picks pass the same gates. Works in batches:
 * call it in a step of its own after the answer, or in a task at the end of the conversation.
 */
export async function remember(step: Step, session: StepSession, options: RememberOptions = {}): Promise<Remembered> {
  const { every = EVERY, end = false } = options;
  const fresh = await session.unextracted();
  const pickedBy = step.model.name;
  if (fresh.items.length === 0 || (!end && fresh.items.length < every))
    return { looked: 0, candidates: [], refused: [], pickedBy };
  const candidates: string[] = [];
  const refused: Remembered['refused'][number][] = [];
  for (const batch of toBatches(fresh.items.filter(({ from }) => from === 'user'))) {
    const { value } = await step.model.ask({
      purpose: 'pick-memories',
      instructions: INSTRUCTIONS,
      output: Picked,
      data: batch.map(({ n, text }) => ({ id: `item-${n}`, text, source: 'user' })),
      offline: () => ({ memories: pickMemories(batch).slice(0, MAX_PICKED) }),
    });
    const gated = gateMemories(session.id, batch, value.memories);
    refused.push(...gated.refused);
    for (const candidate of gated.candidates) candidates.push(await step.blackboard.propose(candidate));
  }
  session.markExtracted(fresh);
  return { looked: fresh.items.length, candidates, refused, pickedBy };
}

function toBatches(items: readonly SessionItem[]): SessionItem[][] {
  const batches: SessionItem[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (chars + item.text.length > BATCH_CHARS) {
      batches.push([]);
      chars = 0;
    }
    batches.at(-1)?.push(item);
    chars += item.text.length;
  }
  return batches;
}
