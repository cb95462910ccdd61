import { createHash } from 'node:crypto';
import type { DataBlock } from './model.ts';

const HIDDEN = String.raw`[\s\p{Cf}]*`;
/**
 * `<data`, `</ DATA`, `＜／ｄａｔａ`, with anything invisible between: what a reader could take for one of our delimiters.
 */
const LOOKS_LIKE_DELIMITER = new RegExp(
  `[<＜﹤‹〈⟨]${HIDDEN}(?:[/／∕⁄]${HIDDEN})?${[...'data'].map((letter) => `[${letter}${letter.toUpperCase()}${wide(letter)}${wide(letter.toUpperCase())}]`).join(HIDDEN)}`,
  'gu',
);

function wide(letter: string): string {
  return String.fromCharCode(letter.charCodeAt(0) + 0xfee0);
}

/**
 * Blocks of text that nobody vouches for, each with exactly one delimiter before and one after. The delimiter is named
 * by a hash of all of them: a text would have to contain its own hash to close its block; whatever merely looks like a
 * delimiter is broken up as well.
 */
export function renderBlocks(blocks: readonly DataBlock[]): { readonly text: string; readonly tag: string } {
  const tag = `data-${createHash('sha256').update(JSON.stringify(blocks)).digest('hex').slice(0, 12)}`;
  const text = blocks.map((block) => `<${tag} ${toAttributes(block)}>\n${disarm(block.text)}\n</${tag}>`).join('\n\n');
  return { text, tag };
}

function disarm(text: string): string {
  return text.replace(LOOKS_LIKE_DELIMITER, (found) => `(${found.slice(1)}`);
}

function toAttributes({ id, title, source }: DataBlock): string {
  return Object.entries({ id, title, source })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${toAttribute(value ?? '')}"`)
    .join(' ');
}

/** One line, without quotes and brackets. */
function toAttribute(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replace(/["“”＂<>＜＞﹤﹥‹›〈〉⟨⟩]/g, "'")
    .slice(0, 300)
    .toWellFormed()
    .trim();
}
