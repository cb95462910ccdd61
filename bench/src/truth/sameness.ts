import { findTextFeatures, signatureOf } from '@cleanslate/domain';
import { z } from 'zod';
import { type Measure, none, readRows, share } from './measure.ts';

const Claim = z.object({ claim: z.string(), evidence: z.string(), gold_label: z.string() });
type Claim = z.infer<typeof Claim>;
const Article = z.object({ old: z.string(), new: z.string(), num_changed: z.boolean().optional() });
type Change = (text: string) => string;

const NUMBER_WORDS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const same = (a: string, b: string) => signatureOf(a, null) === signatureOf(b, null);

/** The same thing said in another way. */
const REPHRASINGS: readonly Change[] = [
  (text) => text.charAt(0).toLowerCase() + text.slice(1),
  (text) => text.replace(/ ([.,;:!?])/g, '$1').replace(/ 's/g, "'s"),
  (text) => text.replace(/\b(is|was|did|has|does) not\b/, "$1n't"),
  (text) =>
    text.replace(new RegExp(`\\b(?:${NUMBER_WORDS.join('|')})\\b`), (word) => String(NUMBER_WORDS.indexOf(word) + 2)),
  (text) =>
    text.replace(
      /(January|February|March|April|June|July|August|September|October|November|December) (\d{1,2})(?:st|nd|rd|th)? ?, (\d{4})/,
      '$2 $1 $3',
    ),
  (text) => text.replace(/\bthe /, ''),
  (text) =>
    text.replace(
      /^([^,]+?) ((?:in|on) (?:the )?\w+(?: \d+)?(?: , \d{4})?) \.$/,
      (_, a: string, b: string) => `${b.charAt(0).toUpperCase()}${b.slice(1)}, ${a}.`,
    ),
];
/** One thing changed that decides. */
const ENGLISH_CHANGES: readonly Change[] = [
  (text) => text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10 || 1)),
  (text) => text.replace(/\bis\b/, 'is not'),
  (text) => text.replace(/\bnot /, ''),
  (text) => text.replace(/\bJune\b/, 'July'),
  (text) => text.replace(/\bis\b/, 'is only'),
  (text) => text.replace(/\bmust\b/, 'may'),
];
const CHINESE_CHANGES: readonly Change[] = [
  (text) => text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10 || 1)),
  (text) => text.replace(/[二三四五六七八九](?=[日天月年倍个百千万元])/, (digit) => (digit === '二' ? '五' : '二')),
  (text) => text.replace(/(\d|[一二三四五六七八九十])(个?)[日天]/, '$1个月'),
  (text) => text.replace(/(\d{4})年/, (_, year: string) => `${Number(year) + 1}年`),
  (text) => text.replace('不得', '可以'),
  (text) => text.replace(/不(?=[得能予准应按])/, ''),
  (text) => text.replace('未', ''),
  (text) => text.replace('应当', '可以'),
  (text) => text.replace('可以', '应当'),
  (text) => text.replace('以上', '以下'),
];

function count(texts: readonly string[], changes: readonly Change[]): { merged: number; tried: number } {
  let merged = 0;
  let tried = 0;
  for (const text of texts) {
    for (const change of changes) {
      const changed = change(text);
      if (changed === text) continue;
      tried++;
      if (same(text, changed)) merged++;
    }
  }
  return { merged, tried };
}

/** What is judged a duplicate, and what must not be. */
export function* measureSameness(folder: string): Generator<Measure> {
  const claims = readRows(folder, 'contradictions', Claim);
  if (claims !== undefined) yield* measureClaims(claims);
  const articles = readRows(folder, 'zh-laws', Article);
  if (articles === undefined) return;
  const changed = articles.filter((article) => article.num_changed);
  const alike = changed.filter((article) => same(article.old, article.new)).length;
  yield none('zh-laws: articles with a changed number judged duplicates', alike, changed.length);
  const { merged, tried } = count(
    articles.map(({ old }) => old),
    CHINESE_CHANGES,
  );
  yield none('zh-laws: one number, date, unit, negation or modal verb changed, judged duplicate', merged, tried);
}

function* measureClaims(claims: readonly Claim[]): Generator<Measure> {
  const refuted = claims.filter(({ gold_label }) => gold_label === 'REFUTES');
  const wrong = refuted.filter(({ claim, evidence }) => same(claim, evidence)).length;
  const refutes = {
    name: 'contradictions: pairs that contradict each other judged duplicates',
    value: `${wrong} of ${refuted.length}`,
  };
  yield { ...refutes, target: '≤ 0.5 %', met: wrong <= refuted.length * 0.005 };
  const texts = [...new Set(claims.flatMap(({ claim, evidence }) => [claim, evidence]))];
  const rephrased = count(texts, REPHRASINGS);
  yield share('contradictions: rephrasings (seven kinds, made by rule) merged', rephrased.merged, rephrased.tried, 0.7);
  const changed = count(texts, ENGLISH_CHANGES);
  yield none(
    'contradictions: one number, negation, month or modal verb changed, judged duplicate',
    changed.merged,
    changed.tried,
  );
  for (const least of [1, 0.9, 0.8, 0.7, 0.6, 0.5]) yield operatingPoint(refuted, texts, least);
}

/**
 * What likeness of words would do in place of equality, everything hard (numbers, dates,
 * negation, modality) still equal.
 */
function operatingPoint(refuted: readonly Claim[], texts: readonly string[], least: number): Measure {
  const near = (a: string, b: string) => {
    const [{ words: left, ...hardLeft }, { words: right, ...hardRight }] = [findTextFeatures(a), findTextFeatures(b)];
    if (JSON.stringify(hardLeft) !== JSON.stringify(hardRight)) return false;
    const [one, two] = [new Set(left), new Set(right)];
    const common = [...one].filter((word) => two.has(word)).length;
    return common / Math.max(1, one.size + two.size - common) >= least;
  };
  const wrong = refuted.filter(({ claim, evidence }) => near(claim, evidence)).length;
  const swapped = texts.flatMap((text) => {
    const match = /^(\w+) (\w+) (?:was|is) (.+) (\w+) \.$/.exec(text);
    return match === null ? [] : [[text, `${match[4]} ${match[2]} was ${match[3]} ${match[1]} .`] as const];
  });
  const roles = swapped.filter(([a, b]) => near(a, b)).length;
  return {
    name: `  curve: words alike ≥ ${least} instead of equal in order`,
    value: `contradictions merged ${((100 * wrong) / refuted.length).toFixed(2)} %, swapped roles merged ${roles} of ${swapped.length}`,
  };
}
