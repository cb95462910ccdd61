import { AppError, type FactView, isAppError } from '@cleanslate/contracts';
import type { StepContext } from '@cleanslate/runtime';
import { type Analysis, type ModelQuestion, reviewWithModel } from '@cleanslate/workflows';
import { z } from 'zod';

type Review = { readonly text: string; readonly facts: readonly FactView[]; readonly analysis: Analysis };

/** A review waits this long for a model, at most; the rest gets half of its time. */
const PATIENCE_MS = 60_000;
const MAX_ITEMS = 50;

const text = { type: 'string' };
const maybe = { type: ['string', 'null'] };
/** Each item is checked by itself, so that a wrong one does not spoil the others. */
const Answer = z.strictObject({
  clauses: z
    .array(
      z.unknown().meta({
        type: 'object',
        properties: { clause: text, quote: text, figure: maybe, choice: maybe },
        required: ['clause', 'quote', 'figure', 'choice'],
        additionalProperties: false,
      }),
    )
    .max(MAX_ITEMS),
});

/**
 * The analysis with what the configured model adds, or with why it added nothing: the review is done whatever happens
 * to the model.
 */
export async function askModel(ctx: StepContext, { text, facts, analysis }: Review): Promise<Analysis> {
  const { model, logger, signal } = ctx;
  if (model.isOffline) return analysis;
  const { question, add } = reviewWithModel(text, facts, analysis);
  if (question.passages.length === 0) return add({ model: model.name, items: [] });
  const ask = model.ask({
    purpose: 'find-clauses',
    instructions: toInstructions(question),
    output: Answer,
    data: question.passages.map(({ id, text }) => ({ id, text, source: 'the contract' })),
    offline: (): z.infer<typeof Answer> => ({ clauses: [] }),
  });
  try {
    const { value } = await within(ask, Math.min(PATIENCE_MS, ctx.deadline() / 2));
    return add({ model: model.name, items: value.clauses });
  } catch (error) {
    signal.throwIfAborted();
    // Also for a refused key: a review is worth having while somebody fixes the configuration.
    if (!isAppError(error)) throw error;
    logger.warn({ err: error }, 'the model added nothing: the review is by rules alone');
    return add({ model: model.name, error: error.code });
  }
}

function toInstructions({ kinds }: ModelQuestion): string {
  return `The data blocks are sentences of one contract. Say which of them are clauses of these kinds: ${kinds.join(', ')}.
For each clause give "clause" (one of these kinds), "quote" (the whole block, letter by letter), "figure" (the words in it that state its duration, rate or amount, letter by
letter; null where it states none) and "choice" (the words in it that name a law, court or owner; null where it names none). Most sentences are no such clause: leave them out.
An empty list is a good answer.`;
}

/** The call itself goes on to its own deadline; nobody waits for it. */
async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new AppError('MODEL_TIMEOUT', `no answer within ${Math.round(ms)} ms`));
  }, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
