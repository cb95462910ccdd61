export type TokenEstimate = {
  /** No tokenizer in use needs fewer: a server that reports less did not receive the whole text. */
  readonly low: number;
  /** Enough to plan with: hardly any text needs more. */
  readonly high: number;
};

type Share = { readonly low: number; readonly high: number };

/** The share of the window that is left free, since this is an estimate. */
const MARGIN = 0.1;

/** Tokens for one UTF-16 unit. Chinese, Japanese, Korean: 0.55 in the newest vocabularies, 1.5 in byte-level ones. */
const CJK: Share = { low: 0.5, high: 1.5 };
const LETTER: Share = { low: 0.18, high: 0.33 };
const DIGIT: Share = { low: 0.33, high: 1 };
const SIGN: Share = { low: 0.2, high: 0.8 };
/** Other alphabets, in which a token is two or three letters. */
const OTHER: Share = { low: 0.15, high: 0.8 };
/** Halves of characters beyond the basic plane: emoji, rare characters. */
const SURROGATE: Share = { low: 0.25, high: 1.5 };
/** A run of spaces is one token or several, or part of the next word. */
const BLANKS: Share = { low: 0, high: 0.3 };
const MORE_BLANKS: Share = { low: 0, high: 0.06 };

/**
 * How many tokens a text will take, without any model's tokenizer. A fourth of its length would be a sixth of the truth
 * for Chinese.
 */
export function estimateTokens(text: string): TokenEstimate {
  let low = 0;
  let high = 0;
  let blank = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const share = toShare(code, blank);
    blank = isBlank(code);
    low += share.low;
    high += share.high;
  }
  return { low: Math.floor(low), high: Math.ceil(high) };
}

/**
 * Where the longest part of a text ends that starts at `start`, takes at most so many tokens, and splits no character.
 * Reads no further than that.
 */
export function endOfTokens(text: string, start: number, tokens: number): number {
  let high = 0;
  let blank = false;
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high += toShare(code, blank).high;
    blank = isBlank(code);
    if (high > tokens) break;
  }
  const halves = at > start && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff;
  return halves ? at - 1 : at;
}

function isBlank(code: number): boolean {
  return code <= 32;
}

function toShare(code: number, afterBlank: boolean): Share {
  if (isBlank(code)) return afterBlank ? MORE_BLANKS : BLANKS;
  return code < 128 ? toAsciiShare(code) : toWideShare(code);
}

function toAsciiShare(code: number): Share {
  if (code >= 48 && code <= 57) return DIGIT;
  const lower = code | 32;
  return lower >= 97 && lower <= 122 ? LETTER : SIGN;
}

function toWideShare(code: number): Share {
  if (code >= 0xd800 && code <= 0xdfff) return SURROGATE;
  const isCjk =
    (code >= 0x2e80 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af) || (code >= 0xf900 && code <= 0xffef);
  return isCjk ? CJK : OTHER;
}

/** Most tokens of a prompt if the answer gets `output`. */
export function promptRoom(window: number, output: number): number {
  return Math.floor(window * (1 - MARGIN)) - output;
}
