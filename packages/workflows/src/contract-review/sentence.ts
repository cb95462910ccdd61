import { foldWidth, type Span } from '@cleanslate/domain';

/** A sentence of the text as it is, and the same sentence normalised for matching. */
export interface Sentence {
  readonly span: Span;
  /** Half-width, single spaces, page headers and footers removed. Offsets into it mean nothing outside. */
  readonly plain: string;
  readonly chinese: boolean;
  /** The last heading above it, normalised; empty before the first. */
  readonly heading: string;
}

interface Line {
  readonly start: number;
  readonly end: number;
  readonly trimmed: string;
}

const MAX_SENTENCE = 4_000;
const FURNITURE =
  /^(?:<\/?page>.{0,12}|-{0,3}\s?\d{1,4}\s?-{0,3}|page\s?\d{1,4}(?:\s(?:of|\/)\s\d{1,4})?|第\s?\d{1,4}\s?页.{0,12}|confidential|\**confidential\**|[-=_*]{3,80})$/i;
/** A line that begins something new. "(30) days" and "30日内" at the start of a wrapped line do not. */
const SECTION_START =
  /^(?:#{1,6}\s|[-+>|•●]\s?|\*\s|第.{1,5}[条章节款]|[一二三四五六七八九十]{1,3}[、.]|\([一二三四五六七八九十]{1,3}\)|\(\d{1,2}\)(?=[\u4e00-\u9fff])|\d{1,2}[、)]|\d{1,2}(?:\.\d{1,2}){0,3}\.?\s{2,12}["A-Z]|\d{1,2}(?:(?:\.\d{1,2}){1,3}\.?|\.)\s{0,12}["A-Z(\u4e00-\u9fff])/;
const CJK = /[\u4e00-\u9fff]/;
const ABBREVIATION =
  /(?:\b(?:inc|co|corp|ltd|no|nos|sec|art|mr|mrs|ms|dr|vs|st|approx|e\.g|i\.e|u\.s|l\.l\.c|n\.a|p\.o)|\b[a-z]|\d\.\d{1,2}|^\s?\d{1,2})\.$/i;

function* linesOf(folded: string): Generator<Line> {
  let start = 0;
  while (start <= folded.length) {
    const newline = folded.indexOf('\n', start);
    const end = newline === -1 ? folded.length : newline;
    yield { start, end, trimmed: folded.slice(start, Math.min(end, start + 100_000)).trim() };
    start = end + 1;
  }
}

function isHeading(line: string): boolean {
  return (
    /^#{1,6}\s/.test(line) ||
    (CJK.test(line) &&
      line.length < 30 &&
      /^(?:第.{1,5}[条章节]|[一二三四五六七八九十]{1,3}、)/.test(line) &&
      !/[。;,]/.test(line))
  );
}

/** Does `line` continue the sentence that `previous` left open, over `gap` (blank lines or a page break)? */
function continues(previous: Line, line: Line, gap: boolean): boolean {
  const last = previous.trimmed;
  if (isHeading(last) || SECTION_START.test(line.trimmed)) return false;
  if (gap) return line.start - previous.end < 600 && /^[a-z(]/.test(line.trimmed) && !/[.:!?;。]$/.test(last);
  return !(CJK.test(last) && /[。;:!?]$/.test(last));
}

/** Paragraphs as runs of lines; hard line breaks and page breaks inside a sentence don't end one. */
function* blocksOf(folded: string): Generator<readonly Line[]> {
  let block: Line[] = [];
  let gap = false;
  for (const line of linesOf(folded)) {
    if (line.trimmed === '' || FURNITURE.test(line.trimmed)) {
      gap = true;
      continue;
    }
    const previous = block.at(-1);
    if (previous !== undefined && !continues(previous, line, gap)) {
      yield block;
      block = [];
    }
    block.push(line);
    gap = false;
  }
  if (block.length > 0) yield block;
}

/** Where the sentences of `text` end, by full stops, 。 and, in Chinese, semicolons. */
function* endsOf(text: string): Generator<number> {
  const stop = /[.!?]["')\]]{0,3}\s+(?=["'([A-Z0-9•\u4e00-\u9fff])|[。!?]["')]?|;(?=\s?[\u4e00-\u9fff(\d])/g;
  for (let match = stop.exec(text); match !== null; match = stop.exec(text)) {
    const mark = match[0].charAt(0);
    const upTo = text.slice(Math.max(0, match.index - 10), match.index + 1);
    if (mark === '.' && ABBREVIATION.test(upTo)) continue;
    if (mark === ';' && !CJK.test(upTo)) continue;
    yield stop.lastIndex;
  }
  yield text.length;
}

/** What a template leaves to be filled in: {{TERM}}, [[TEXT:term]], [NET TERMS], [insert number], [●]. */
const PLACEHOLDER =
  /\{\{[^{}\n]{1,60}\}\}|\[\[[^[\]\n]{1,60}\]\]|\[(?:[A-Z]{2,20}(?:[ _/-][A-Z0-9]{1,20}){0,5}|(?:[Ii]nsert|[Ee]nter|[Ss]pecify|[Nn]umber|[Aa]mount|[Dd]ate|[Tt]erm|[Pp]eriod|[Dd]uration)\b[^[\]\n]{0,60}|[●○•■◆]{1,6}|[A-Z](?=\]\s{0,10}(?:%|(?:business |calendar )?(?:days?|weeks?|months?|years?|percent)\b)))\]/g;

/** Markdown's emphasis and template brackets are removed ("[30] days"), and every form of a blank becomes "____". */
function toPlain(joined: string, chinese: boolean): string {
  // A hard line break inside Chinese text is not a space.
  const unwrapped = chinese
    ? joined
        .replace(/([\u4e00-\u9fff,、])\s*\n\s*(?=[\u4e00-\u9fff\d])/g, '$1')
        // Underlined blanks of a form arrive as a gap: "验收后 个工作日内", "总价的 %".
        .replace(/(?<=[后为起于付在的]) {1,20}(?=(?:个(?:工作日|日历日|月)|日内|天内|%|‰))/g, '____')
    : joined;
  return unwrapped
    .replace(PLACEHOLDER, '____')
    .replace(/[【[]\s{0,20}([\d.]{1,12}|[一二三四五六七八九十]{1,4})\s{0,20}[】\]]/g, '$1')
    .replace(/[【[]\s{0,40}([%‰]?)\s{0,20}[】\]]/g, '____$1')
    .replace(
      /\[([a-z-]{3,20}(?:\s{0,20}\(\d{1,4}\))?)\](?=\s{1,20}(?:business |calendar )?(?:days?|weeks?|months?|years?|percent)\b)/gi,
      '$1',
    )
    .replace(/`|\*{1,3}(?=[\w\u4e00-\u9fff])|(?<=[\w\u4e00-\u9fff])\*{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function toSentence(folded: string, start: number, end: number, lines: readonly Line[]): Sentence | null {
  const raw = folded.slice(start, end);
  const lead = raw.length - raw.trimStart().length;
  const span = { start: start + lead, end: start + raw.trimEnd().length };
  if (span.end <= span.start) return null;
  const parts = lines
    .filter((line) => line.end > span.start && line.start < span.end)
    .map((line) => folded.slice(Math.max(line.start, span.start), Math.min(line.end, span.end)));
  const joined = parts.join('\n');
  const chinese = CJK.test(joined);
  return { span, plain: toPlain(joined, chinese), chinese, heading: '' };
}

const HEADING =
  /^(?:#{1,6} .{1,80}|(?:article|section) .{1,80}|\(?\d{1,2}(?:\.\d{1,2}){0,3}[.)]? .{1,80}|第.{1,5}[条章节].{0,30}|[一二三四五六七八九十]{1,3}、.{1,30}|[A-Z][A-Z '&/,()-]{3,80}[.:]?)$/i;
/** "Severance Payments. The Company shall …": a heading that runs into its paragraph, numbered "(a)" or not at all. */
const RUN_IN =
  /^(?:\([a-z]{1,3}\) )?(?=[^ ]*[a-z])[A-Z][\w'’/-]{2,30}[,;]?(?: (?:[A-Z][\w'’/-]{0,30}|and|or|of|the|for|to|in|by|upon|on|without|with|&)[,;]?){0,7}\.$/;
const STATES = /\b(?:shall|will|must|may|agrees?|is|are|means)\b|[。;,]|应当?|支付/;

function headingOf({ plain }: Sentence): string | null {
  const capitals = /^[^a-z]*$/.test(plain);
  return plain.length <= 90 &&
    HEADING.test(plain) &&
    (capitals || /^[#\d(asc第一二三四五六七八九十]/i.test(plain)) &&
    !STATES.test(plain)
    ? plain
    : null;
}

function* rawSentencesOf(text: string): Generator<Sentence & { readonly leads: boolean }> {
  const folded = foldWidth(text);
  for (const lines of blocksOf(folded)) {
    const first = lines[0];
    const last = lines.at(-1);
    if (first === undefined || last === undefined) continue;
    const block = folded.slice(first.start, last.end);
    let start = 0;
    let line = 0;
    for (const end of endsOf(block)) {
      for (let from = start; from < end; from += MAX_SENTENCE) {
        const to = Math.min(end, from + MAX_SENTENCE);
        while ((lines[line]?.end ?? Number.POSITIVE_INFINITY) <= first.start + from) line += 1;
        let lastLine = line;
        while ((lines[lastLine + 1]?.start ?? Number.POSITIVE_INFINITY) < first.start + to) lastLine += 1;
        const sentence = toSentence(folded, first.start + from, first.start + to, lines.slice(line, lastLine + 1));
        if (sentence !== null) yield { ...sentence, leads: start === 0 && end < block.length };
      }
      start = end;
    }
  }
}

/** The sentences of a text in order. Linear; a run without an end is cut every 4,000 characters. */
export function* sentencesOf(text: string): Generator<Sentence> {
  let heading = '';
  for (const { leads, ...sentence } of rawSentencesOf(text)) {
    const runsIn = leads && RUN_IN.test(sentence.plain) && !STATES.test(sentence.plain.toLowerCase());
    heading = headingOf(sentence) ?? (runsIn ? sentence.plain : heading);
    yield { ...sentence, heading };
  }
}
