import type { Span } from '../quantities/index.ts';

export interface Hedge extends Span {
  /** `doubt` shows that somebody isn't sure, which whoever uses the statement must know; `filler` means nothing. */
  readonly kind: 'doubt' | 'filler';
}

/**
 * No phrase here may contain a number, a unit, a negation, a condition or a modal ("it should be noted" does), nor say
 * how exact a number is: "about 30 days" and 约30天 are other quantities than 30 days.
 */
const EN_DOUBT =
  /\b(?:I|we) (?:think|believe|guess|suppose)(?: that\b)?(?! in\b),?|\b(?:I|we) (?:assume|suspect) that\b,?|\bit (?:seems|appears) that\b,?|(?<!\b(?:not|cannot|no|never|can't|n't) |-)\b(?:perhaps|maybe|probably|possibly|presumably|apparently|arguably|seemingly|supposedly)\b(?!-),?|\bin my (?:humble )?(?:opinion|view)\b,?|\bas far as I (?:know|remember|recall)\b,?|\bto my mind\b,?/gi;
const EN_FILLER =
  /(?<!\b(?:not|never) )\b(?:basically|actually|frankly|honestly|obviously)\b(?!-),?|\b(?:of course|in fact|to be honest|needless to say|as you know)\b,?|\bplease note(?: that\b)?,?|\bit is (?:worth noting|important to note) that\b,?/gi;
/** A numeral after 大概 makes it "about". */
const ZH_NUMERAL = '[\\d０-９〇零一二两三四五六七八九十百千万亿半几数]';
const ZH_DOUBT = new RegExp(
  `(?:我们?|本人|笔者)(?:个人)?(?:认为|觉得|猜测|猜想|估计(?!\\s*${ZH_NUMERAL}))[,，]?|似乎|好像(?![^，。;；,]{0,12}一样)|看起来[,，]?|看样子[,，]?|恐怕|也许|或许|据说[,，]?|听说[,，]?|大概(?!念|\\s*${ZH_NUMERAL})`,
  'g',
);
const ZH_FILLER =
  /(?:说实话|老实说|坦率地说|众所周知|值得注意的是|值得一提的是|需要(?:指出|说明)的是|总的来说|总而言之|换句话说)[,，]?|其实(?!际|施|体|验)[,，]?/g;

const QUOTED = /"[^"\n]{0,400}"|“[^”\n]{0,400}”|「[^」\n]{0,400}」|《[^》\n]{0,200}》|«[^»\n]{0,400}»/g;

/**
 * Words of doubt and filler in a text, in order, none of them inside a quotation: what somebody else said stays as
 * said. Linear.
 */
export function findHedges(text: string): Hedge[] {
  const quoted = [...text.matchAll(QUOTED)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  const found = [
    ...spansOf(text, EN_DOUBT, 'doubt'),
    ...spansOf(text, ZH_DOUBT, 'doubt'),
    ...spansOf(text, EN_FILLER, 'filler'),
    ...spansOf(text, ZH_FILLER, 'filler'),
  ].sort((left, right) => left.start - right.start);
  const kept: Hedge[] = [];
  let nextQuote = 0;
  for (const hedge of found) {
    while ((quoted[nextQuote]?.end ?? Number.POSITIVE_INFINITY) <= hedge.start) nextQuote += 1;
    const inside = (quoted[nextQuote]?.start ?? Number.POSITIVE_INFINITY) < hedge.end;
    if (!inside && hedge.start >= (kept.at(-1)?.end ?? 0)) kept.push(hedge);
  }
  return kept;
}

function spansOf(text: string, pattern: RegExp, kind: Hedge['kind']): Hedge[] {
  return [...text.matchAll(pattern)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    kind,
  }));
}

/** Does the statement say of itself that it is a guess? */
export function isDoubtful(text: string): boolean {
  return findHedges(text).some(({ kind }) => kind === 'doubt');
}

/** The text without its hedges. A space goes with each, so that none is doubled. */
export function withoutHedges(text: string, hedges: readonly Hedge[]): string {
  let out = '';
  let at = 0;
  for (const { start, end } of hedges) {
    out += text.slice(at, start);
    at = end;
    // "the fee, probably, is": one of the two spaces or commas goes with the word.
    const open = out === '' || /[\s([“"]$/.test(out);
    while (open && /[ \t]/.test(text.charAt(at))) at += 1;
  }
  return out + text.slice(at);
}
