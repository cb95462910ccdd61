/** Weights of words that are in nearly every text, instead of an idf that a growing corpus would move. */
const COMMON = new Map<string, number>([
  ...words('a an the of and to in is are was were be been that this it its as at by for from on or with', 0.08),
  ...words('not no', 0.9),
  ...words('he she they we you i his her their our your my him them us me', 0.2),
  ...words(
    'has have had do does did will would can could may might shall should must there which who whom what when where',
    0.3,
  ),
  ...words(
    'one some any all more most other such than then so if but also into over under about after before between',
    0.4,
  ),
  ...words('的 了 是 在 和 有 为 与 及 或 等 其 之 者 所 由 也 而 并 这 那 个 着 一个 一', 0.15),
  ...words('不 没 没有 未 无', 0.9),
  ...words('我 你 他 她 它 我们 你们 他们 自己', 0.3),
]);

function words(list: string, weight: number): [string, number][] {
  return list.split(' ').map((word) => [word, weight]);
}

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });
const RUNS = /\p{Script=Han}+|[[\p{L}\p{N}]--\p{Script=Han}]+/gv;
const NGRAM_SHARE = 0.35;

/**
 * What a text is made of: words (Chinese ones by segmentation), pairs of words, and the words' character
 * n-grams, each with a weight.
 */
export function toFeatures(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (feature: string, weight: number) => counts.set(feature, (counts.get(feature) ?? 0) + weight);
  let before = '';
  for (const word of toWords(text)) {
    const weight = COMMON.get(word) ?? 1;
    add(`w:${word}`, weight);
    if (before !== '') add(`p:${before} ${word}`, 0.3 * Math.min(weight, COMMON.get(before) ?? 1));
    before = word;
    if (weight < 1) continue;
    const grams = toGrams(word);
    for (const gram of grams) add(`g:${gram}`, NGRAM_SHARE / Math.sqrt(grams.length));
  }
  // A tenth mention says little more than the first.
  for (const [feature, weight] of counts) if (weight > 1) counts.set(feature, 1 + Math.log(weight));
  return counts;
}

function* toWords(text: string): Generator<string> {
  for (const [run] of text.normalize('NFKC').toLowerCase().matchAll(RUNS)) {
    if (!/^\p{Script=Han}/u.test(run)) yield run;
    else for (const { segment } of segmenter.segment(run)) yield segment;
  }
}

/** "contract" → ^co con ont … ct$; Chinese words by their characters. A blob gives the grams of its beginning. */
function toGrams(word: string): string[] {
  const chars = [...word].slice(0, 40);
  if (/^\p{Script=Han}/u.test(word)) return chars;
  const padded = ['^', ...chars, '$'];
  const grams: string[] = [];
  for (const size of [3, 4])
    for (let at = 0; at + size <= padded.length; at++) grams.push(padded.slice(at, at + size).join(''));
  return grams;
}
