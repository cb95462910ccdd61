import { foldWidth } from '../quantities/index.ts';

/**
 * What a model or a person may write for each value, apart from the value itself; compared folded, in lower case,
 * without spaces.
 */
export type EnumWords<T extends string> = Readonly<Record<T, readonly string[]>>;

export type ReadEnum<T extends string> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly allowed: readonly T[]; readonly message: string };

export const SEVERITY_WORDS: EnumWords<'LOW' | 'MEDIUM' | 'HIGH'> = {
  LOW: ['low risk', 'low severity', '低', '低风险'],
  MEDIUM: ['medium risk', 'moderate', 'medium severity', '中', '中等', '中风险'],
  HIGH: ['high risk', 'high severity', '高', '高风险'],
};

function normalize(word: string): string {
  return foldWidth(word.normalize('NFC'))
    .toLowerCase()
    .replace(/[\s_-]+/g, '');
}

/**
 * A value of an enum from the words for it, by table only. A word that isn't in the table has no nearest value: asking
 * again can name the allowed ones.
 */
export function readEnum<T extends string>(words: EnumWords<T>, word: string): ReadEnum<T> {
  const wanted = normalize(word);
  const allowed = (Object.keys(words) as T[]).filter((value) => value in words);
  const value = allowed.find((each) => [each, ...words[each]].some((known) => normalize(known) === wanted));
  if (value !== undefined) return { ok: true, value };
  return { ok: false, allowed, message: `"${word.slice(0, 60)}" is none of ${allowed.join(', ')}: use one of them` };
}
