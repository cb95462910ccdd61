import type { Candidate } from '@cleanslate/contracts';
import { findBlank } from './find-blank.ts';

export type ScreenSettings = {
  /** Least confidence of documents and people. Default 0.75. */
  readonly trustedConfidence: number;
  /** Least confidence of what a model or an unvalidated task derived. Default 0.9. */
  readonly derivedConfidence: number;
  /** Default 0.3. */
  readonly importance: number;
};
export const DEFAULT_SCREEN: ScreenSettings = { trustedConfidence: 0.75, derivedConfidence: 0.9, importance: 0.3 };

export type Screening = { readonly passed: true } | { readonly passed: false; readonly reason: string };

const REFUSED: readonly (readonly [reason: string, pattern: RegExp])[] = [
  [
    'reasoning_text',
    /<\/?(?:think|thinking|reasoning|scratchpad)>|^\s{0,20}(?:let me think|okay, so i need to|首先，我需要|让我想想)/i,
  ],
  [
    'model_refusal',
    /\b(?:as an ai (?:language )?model|i (?:can(?:no|')t|am unable to) (?:help|assist|comply))|作为(?:一个)?(?:ai|人工智能)/i,
  ],
  [
    'system_prompt',
    /^\s{0,20}(?:system:|you are (?:a|an) (?:helpful )?(?:ai )?assistant|你是一个.{0,20}助手)|<\|(?:im_start|system)\|>/i,
  ],
  [
    'recalled_fact',
    /^\s{0,20}(?:<\/?(?:memory|memories|fact|facts|context|recalled)\b|\[(?:memory|fact|recalled)\b|(?:according to|as per|based on) (?:the |my |our )?(?:knowledge base|memory|memories|stored facts|retrieved (?:facts|context))|根据(?:知识库|记忆|已知事实|检索结果))/i,
  ],
  [
    'small_talk',
    /^\s{0,20}(?:hi|hello|thanks?|thank you|ok(?:ay)?|sure|you're welcome|你好|谢谢|好的|不客气)[\s.!。！,，]{0,10}$/i,
  ],
];

/** May this be considered at all? `validated` is false for the candidates of a task that nobody judged. */
export function screenCandidate(candidate: Candidate, validated: boolean, settings: ScreenSettings): Screening {
  const refuse = (reason: string): Screening => ({ passed: false, reason });
  // Executors hold no person's credential: people speak by `ctl.<tenant>.fact.*`.
  if (candidate.sourceType === 'human_confirmed') return refuse('claims_a_person');
  if (candidate.sensitivity === 'secret') return refuse('secret');
  if (findBlank({ ...candidate.assertion, statement: candidate.statement }) !== null) return refuse('blank');
  const trusted = validated && candidate.sourceType === 'internal_document';
  const least = trusted ? settings.trustedConfidence : settings.derivedConfidence;
  if (candidate.confidence < least) return refuse(`confidence ${candidate.confidence} is below ${least}`);
  if (candidate.importance < settings.importance)
    return refuse(`importance ${candidate.importance} is below ${settings.importance}`);
  const { validFrom = null, validUntil = null } = candidate;
  if (validFrom !== null && validUntil !== null && Date.parse(validFrom) >= Date.parse(validUntil))
    return refuse('valid range holds no moment');
  const hit = REFUSED.find(([, pattern]) => pattern.test(candidate.statement));
  return hit === undefined ? { passed: true } : refuse(hit[0]);
}
