import { AppError } from '@cleanslate/contracts';
import type OpenAI from 'openai';
import { withoutThinking } from './find-json.ts';
import type { Chunk } from './read-pieces.ts';

export type RawToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/**
 * Thinking text, and the field in which its server sends it and wants it back: `reasoning_content` in DeepSeek and
 * others, `reasoning` in Ollama and others.
 */
export type Thinking = { readonly field: 'reasoning_content' | 'reasoning'; readonly text: string };

/** One answer as it arrived, before anybody trusts it. */
export type RawAnswer = {
  readonly content: string;
  readonly refusal: string;
  readonly finish: string | undefined;
  readonly toolCalls: readonly RawToolCall[];
  /**
   * Only sent back beside tool calls, to servers that want it; never stored, logged or passed on. Undefined: none was
   * sent.
   */
  readonly reasoning: Thinking | undefined;
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number } | undefined;
};

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Longest thinking text kept of one answer; the rest is left out. */
const MAX_CALLS = 100;

type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & { readonly [field in Thinking['field']]?: unknown };

/** Like `length`, in other servers' words. */
const CUT = /^(?:length|model_length|max_tokens)$/i;
/** The server gave up in the middle: what arrived may be incomplete. */
const BROKEN_OFF = /^(?:error|abort|aborted|cancelled|insufficient_system_resource)$/i;

/** Puts the pieces of a stream together. */
export class AnswerCollector {
  #content = '';
  #refusal = '';
  #reasoning: Thinking | undefined;
  #finish: string | undefined;
  #usage: RawAnswer['usage'];
  readonly #calls: Writable<RawToolCall>[] = [];
  /** By the index that their server gave them last. */
  readonly #callAt = new Map<number, Writable<RawToolCall>>();

  /** True if it added something: servers keep dead streams alive with empty pieces. */
  add(chunk: Chunk | null): boolean {
    if (chunk === null) return false;
    if (chunk.usage)
      this.#usage = {
        promptTokens: toCount(chunk.usage.prompt_tokens),
        completionTokens: toCount(chunk.usage.completion_tokens),
      };
    const choice = chunk.choices?.[0];
    if (choice === undefined) return false;
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    return this.#addDelta(choice.delta ?? {}) || Boolean(choice.finish_reason);
  }

  #addDelta(delta: Delta): boolean {
    this.#content += toContent(delta.content);
    if (typeof delta.refusal === 'string') this.#refusal += delta.refusal;
    const thinking = toThinking(delta);
    if (thinking !== undefined) this.#reasoning = { ...thinking, text: (this.#reasoning?.text ?? '') + thinking.text };
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
    for (const call of calls) this.#addCall(call);
    return Boolean(delta.content || delta.refusal || thinking?.text || calls.length);
  }

  #addCall({ index = 0, id: given, function: call }: NonNullable<Delta['tool_calls']>[number]): void {
    const id = given ?? '';
    let at = this.#callAt.get(index);
    // Some servers give all calls the same number; others give one call another id with every piece.
    const isAnother = at !== undefined && id !== '' && at.id !== '' && id !== at.id && call?.name && at.name !== '';
    if (at === undefined || isAnother) {
      if (this.#calls.length >= MAX_CALLS) return;
      at = { id: '', name: '', arguments: '' };
      this.#calls.push(at);
      this.#callAt.set(index, at);
    }
    at.id ||= id;
    // Some servers say the whole name again with each piece of the arguments.
    if (call?.name !== at.name) at.name += call?.name ?? '';
    at.arguments += toArguments(call?.arguments);
  }

  /** Throws `MODEL_STALLED` if the stream ended without saying so: what arrived may be incomplete. */
  end(): RawAnswer {
    if (this.#finish === undefined || BROKEN_OFF.test(this.#finish))
      throw new AppError('MODEL_STALLED', `model: the stream broke off before its end (${this.#finish ?? 'unsaid'})`);
    return this.soFar();
  }

  /** What has arrived; for a request that was broken off, that is what it used. */
  soFar(): RawAnswer {
    return {
      content: this.#content,
      refusal: this.#refusal,
      finish: this.#finish,
      reasoning: this.#reasoning,
      toolCalls: this.#calls.map((call, at) => ({ ...call, id: call.id || `call_${at}` })),
      usage: this.#usage,
    };
  }
}

/**
 * Text, or the texts of a list of parts, which is how Mistral's thinking models answer; their
 * thinking is another kind of part.
 */
function toContent(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: readonly Partial<Record<'type' | 'text', unknown>>[] = Array.isArray(content) ? content : [];
  return parts.map((part) => (part?.type === 'text' && typeof part.text === 'string' ? part.text : '')).join('');
}

/** JSON text; some servers send the object itself. */
function toArguments(said: unknown): string {
  if (typeof said === 'string') return said;
  return typeof said === 'object' && said !== null ? JSON.stringify(said) : '';
}

/** Of one of the fields: some servers send the same in both. */
function toThinking(delta: Delta): Thinking | undefined {
  for (const field of ['reasoning_content', 'reasoning'] as const) {
    const text = delta[field];
    if (typeof text === 'string') return { field, text };
  }
  return undefined;
}

/** More than any window holds is nonsense, and sums of it would not be numbers that a report may carry. */
const MAX_COUNT = 100_000_000;

function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_COUNT ? value : 0;
}

/** Below this an estimate says little. */
const MIN_PROMPT = 500;
const CUT_BELOW = 0.85;

/**
 * Whether an answer is one at all; its content is another matter. The order matters: a refusal and a cut answer are
 * blank as often as not. Throws `MODEL_REFUSED`, `MODEL_TRUNCATED`, `MODEL_PROMPT_CUT`, `MODEL_EMPTY_ANSWER`.
 */
export function checkAnswer(raw: RawAnswer, promptLow: number): void {
  if (raw.refusal.trim() !== '' || raw.finish === 'content_filter') {
    const why = raw.refusal.trim() || 'its filter took the answer out';
    throw new AppError('MODEL_REFUSED', `model: it refuses to answer: ${why.slice(0, 500)}`);
  }
  if (CUT.test(raw.finish ?? ''))
    throw new AppError(
      'MODEL_TRUNCATED',
      'model: the answer was cut at the longest allowed: raise maxOutputTokens (or MODEL_MAX_OUTPUT_TOKENS), or ask for less at once',
    );
  const told = raw.usage?.promptTokens ?? 0;
  // Servers that cache prompts may report none.
  if (told > 0 && promptLow > MIN_PROMPT && told < promptLow * CUT_BELOW)
    throw new AppError(
      'MODEL_PROMPT_CUT',
      `model: it was given ${told} of at least ${promptLow} tokens: the server cuts long prompts. Give it a larger window, or set MODEL_CONTEXT_TOKENS to the one it has`,
      { details: { promptTokens: told, expectedAtLeast: promptLow } },
    );
  if (raw.toolCalls.length === 0 && withoutThinking(raw.content).trim() === '')
    throw new AppError('MODEL_EMPTY_ANSWER', 'model: the answer is empty');
}
