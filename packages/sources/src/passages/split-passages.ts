export type Passage = {
  /** UTF-16 offsets into the text. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Its headings, in Markdown. */
  readonly headings: readonly string[];
};

/** Long enough to hold an answer with what it depends on, short enough to be read. */
const WANTED = 1_000;
const LONGEST = 2_000;
const BLOCK = /[^\n\f](?:[^\n\f]|\n(?![\t ]*\n))*/g;
const HEADING = /^(#{1,6})[ \t]+(.{1,200}?)[ \t#]*$/;

/**
 * A text in passages: whole paragraphs, up to a thousand characters together, never across a page or a heading. A
 * paragraph longer than two thousand is cut between sentences.
 */
export function splitPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  const headings: string[] = [];
  let open: { start: number; end: number } | undefined;
  const close = () => {
    if (open !== undefined) passages.push(...cutLong(text, open.start, open.end, headings));
    open = undefined;
  };
  for (const block of text.matchAll(BLOCK)) {
    const [start, end] = [block.index, block.index + block[0].trimEnd().length];
    if (block[0].trim() === '') continue;
    const heading = HEADING.exec(block[0].split('\n', 1)[0] ?? '');
    const newPage = open !== undefined && text.slice(open.end, start).includes('\f');
    if (heading !== null || newPage || (open !== undefined && end - open.start > WANTED)) close();
    if (heading !== null) {
      headings.length = Math.min(headings.length, (heading[1]?.length ?? 1) - 1);
      headings.push(heading[2] ?? '');
    }
    open = { start: open?.start ?? start, end };
  }
  close();
  return passages;
}

function cutLong(text: string, from: number, until: number, headings: readonly string[]): Passage[] {
  const parts: Passage[] = [];
  let start = from;
  while (until - start > LONGEST) {
    const end = start + findCut(text.slice(start, start + LONGEST));
    parts.push(toPassage(text, start, end, headings));
    start = end;
  }
  if (text.slice(start, until).trim() !== '') parts.push(toPassage(text, start, until, headings));
  return parts;
}

/** After the last sentence, otherwise the last space; never inside a surrogate pair. */
function findCut(head: string): number {
  let cut = 0;
  for (const match of head.matchAll(/[.!?]["')\]]{0,2}\s|[。！？；][”」』）]?|\n/g))
    cut = match.index + match[0].length;
  if (cut > head.length / 4) return cut;
  const blank = head.lastIndexOf(' ') + 1;
  if (blank > head.length / 4) return blank;
  const last = head.charCodeAt(head.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? head.length - 1 : head.length;
}

function toPassage(text: string, start: number, end: number, headings: readonly string[]): Passage {
  return { start, end, text: text.slice(start, end), headings: [...headings] };
}

/** A passage's own heading is part of its text; those above it are what else it can be found by. */
export function toSearchText({ text, headings }: Pick<Passage, 'text' | 'headings'>): string {
  const above = HEADING.test(text.split('\n', 1)[0] ?? '') ? headings.slice(0, -1) : headings;
  return [...above, text].join('\n');
}
