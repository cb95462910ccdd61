import { formatDecimal } from '@cleanslate/domain';
import type { Clause } from './clause.ts';
import type { Judgement } from './judge.ts';
import type { PolicyRule } from './policy.ts';
import type { Language } from './schemas.ts';
import type { Wanted, Words } from './words.ts';
import { EN_WORDS } from './words-en.ts';
import { ZH_WORDS } from './words-zh.ts';

export function wordsOf(language: Language): Words {
  return language === 'zh' ? ZH_WORDS : EN_WORDS;
}

function wantedBy(rule: PolicyRule, words: Words): Wanted {
  const { force } = rule;
  if (rule.type === 'required') return { text: words.required(rule.kind, force), force };
  if (rule.type === 'choice') return { text: words.oneOf(rule.accepted), force };
  return { text: words.bound(rule.bound, words.measured(formatDecimal(rule.limit), rule.measure, rule.unit)), force };
}

/** Why a clause deviates from a rule or keeps to it: the value found, the value wanted, the conversion between them. */
export function explain(rule: PolicyRule, clause: Clause, judgement: Judgement, language: Language): string {
  const words = wordsOf(language);
  const wanted = wantedBy(rule, words);
  if (!clause.present) return words.missing(clause.kind, wanted);
  const { comparable, problem } = judgement;
  const converted =
    rule.type !== 'limit' || comparable?.factor == null
      ? null
      : words.converted(
          words.measured(formatDecimal(comparable.value), rule.measure, rule.unit),
          comparable.factor,
          rule.measure,
        );
  const reading = words.reading(clause);
  const sentence =
    problem === null
      ? words.complies(clause.kind, reading, converted, wanted)
      : words.deviates(clause.kind, problem, reading, converted, wanted);
  return `${sentence}${words.notes(clause)}`;
}
