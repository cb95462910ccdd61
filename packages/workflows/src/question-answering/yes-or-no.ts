import { figuresOf, findTextFeatures, isSameFigure } from '@cleanslate/domain';
import type { FoundFact, QuotedAnswer } from './schemas.ts';
import { saysNoMore } from './words-of-question.ts';

const ASKS_DUTY =
  /^(?:must|should|shall|do|does|is|are)\b(?!.*\b(?:allowed|permitted|may|can)\b)|必须|需要|应当|应该|是否需/i;
const ASKS_LEAVE = /^(?:may|can|could)\b|\b(?:allowed|permitted|entitled)\b|可以|能否|可否|能不能|可不可以|允许/i;

/** "Aren't we allowed…?", “不可以…吗？”: yes and no mean either. */
const ASKED_NEGATED =
  /\bnot\b|n['’]t\b|\bcannot\b|\bnever\b|不(?:可以?|能|得|许|允许|准|必|用|需要?|应当?|应该|须)|无[需须]/i;
/** They ask for both: "or not", 可不可以、能不能。 */
const EITHER = /(\p{Script=Han})不\1|\bor not\b/giu;

const CONDITION = /\b(?:only|if|when|where|provided|subject to)\b|只有|仅限|仅在|如果|若|除非|经批准/i;

/**
 * Yes or no, if the fact's polarity and modality say so for exactly what was asked: a "may" does not answer a question
 * for a duty. Null: read the quote.
 */
export function verdictOf(question: string, { statement, assertion }: FoundFact): QuotedAnswer['verdict'] {
  if (ASKED_NEGATED.test(question.replace(EITHER, '$1'))) return null;
  // A rule for some is not an answer for all.
  if (!saysNoMore(statement, question)) return null;
  const { modalities, negations } = findTextFeatures(statement);
  const forbids = modalities.includes('must_not') || assertion?.polarity === 'negative';
  // Another negation, an exception, a condition: the answer is not one word.
  if (!forbids && negations > 0) return null;
  if (CONDITION.test(statement) && !CONDITION.test(question)) return null;
  // What is forbidden from a number on is not forbidden altogether: the question must be about that number.
  if (
    forbids &&
    !figuresOf(statement).every((figure) => figuresOf(question).some((asked) => isSameFigure(asked, figure)))
  )
    return null;
  if (ASKS_LEAVE.test(question)) {
    if (forbids) return negations > 1 ? null : 'no';
    return modalities.includes('may') && !modalities.includes('must') ? 'yes' : null;
  }
  if (!ASKS_DUTY.test(question) || forbids) return null;
  if (modalities.includes('must') && !modalities.includes('may')) return 'yes';
  return null;
}
